/* A plugin of libelektra, opened for one file and the parent of its keys. */
#include <kdb.h>
#include <kdbmodule.h>
#include <kdbprivate.h>

typedef struct
{
	KeySet * modules;
	Key * error;
	Plugin * plugin;
	Key * parent;
} Opened;

static Opened open_plugin (const char * file, const char * parent, const char * name)
{
	Opened opened = { .modules = ksNew (0, KS_END) };
	elektraModulesInit (opened.modules, 0);
	opened.error = keyNew ("/", KEY_END);
	opened.plugin = elektraPluginOpen (name, opened.modules, ksNew (0, KS_END), opened.error);
	opened.parent = keyNew (parent, KEY_VALUE, file, KEY_END);
	return opened;
}

static void close_plugin (Opened opened)
{
	keyDel (opened.parent);
	elektraPluginClose (opened.plugin, opened.error);
	keyDel (opened.error);
	elektraModulesClose (opened.modules, 0);
	ksDel (opened.modules);
}
