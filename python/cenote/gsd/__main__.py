"""``python -m cenote.gsd read FILE``: a Python interpreter with a file opened in it.

``cenote gsd`` has the commands that need no interpreter.
"""

import argparse
import code
import sys

from . import fl, hoomd, version

BANNER = """Python {python}
gsd {gsd}

File: {file}
{extra}
The file is "handle"; with the schema hoomd, its frames are "traj".
Type "help(handle)" or "help(traj)" for more information."""


def main_read(args):
    """Start an interpreter with an open file."""
    names = {'gsd': sys.modules['cenote.gsd'], 'gsd.hoomd': hoomd, 'gsd.fl': fl}
    extra = ''
    if args.schema == 'hoomd':
        names['traj'] = hoomd.open(args.file, mode=args.mode)
        names['handle'] = names['traj'].file
        extra = f'Number of frames: {len(names["traj"])}\n'
    elif args.mode in ('w', 'x'):
        raise ValueError('Unsupported schema for creating a file.')
    else:
        names['handle'] = fl.open(args.file, args.mode)
    banner = BANNER.format(
        python=sys.version, gsd=version.version, file=args.file, extra=extra
    )
    code.interact(local=names, banner=banner)


def parser():
    """The command line."""
    top = argparse.ArgumentParser(prog='python -m cenote.gsd', description='GSD files.')
    top.add_argument('--version', action='version', version='gsd ' + version.version)
    top.add_argument('--debug', action='store_true', help='Show the traceback of an error.')
    commands = top.add_subparsers()
    read = commands.add_parser('read', help='Start an interpreter with a file open.')
    read.add_argument('file', nargs='?', help='GSD file to read.')
    read.add_argument('-s', '--schema', default='hoomd', choices=['hoomd', 'none'])
    read.add_argument('-m', '--mode', default='r', choices=['w', 'r', 'r+', 'x', 'a'])
    read.set_defaults(run=main_read)
    return top


def main():
    """Run the command; return its exit code."""
    top = parser()
    args = top.parse_args()
    if not hasattr(args, 'run'):
        top.print_usage()
        return 2
    try:
        args.run(args)
    except Exception as error:
        if args.debug:
            raise
        print(f'Error: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
