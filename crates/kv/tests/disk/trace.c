/* Records what a process writes below one directory, in order, so that what a power cut would leave can be worked out.
 *
 * Preloaded into the process. A seccomp filter traps the system calls themselves, whoever makes them (Rust's
 * rustix makes them without the C library); the handler makes each one and appends it to the trace. Nothing is synced for
 * real. The trace has one record an operation, integers in the machine's order: kind u8, first u64, second u64, length of
 * a u32, of b u32, a, b. Paths are absolute.
 *
 *   O inode, path: the file is there     D inode, path: the directory is there    W inode, offset, bytes
 *   T inode, length                      S inode: synced                          R path, path: renamed
 *   L path, path: linked                 U path: removed                          A bytes: written to stdout
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* A sixth argument that only the handler gives: the filter lets such calls pass. */
#define PASS 0x63656e6fu

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static volatile char held;

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define ARGUMENT(context, n) ((long)(context)->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[n]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
static long call(long number, long a, long b, long c, long d, long e) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = PASS;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define ARGUMENT(context, n) ((long)(context)->uc_mcontext.regs[n])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
static long call(long number, long a, long b, long c, long d, long e) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                  x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = PASS;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "write down how this machine makes system calls"
#endif

static void record(char kind, uint64_t first, uint64_t second, const void *a, uint32_t a_length, const void *b, uint32_t b_length) {
    char head[25];
    head[0] = kind;
    memcpy(head + 1, &first, 8);
    memcpy(head + 9, &second, 8);
    memcpy(head + 17, &a_length, 4);
    memcpy(head + 21, &b_length, 4);
    struct iovec parts[] = {{head, sizeof head}, {(void *)a, a_length}, {(void *)b, b_length}};
    long length = sizeof head + (long)a_length + b_length;
    if (call(SYS_writev, trace, (long)parts, 3, 0, 0) != length) abort();
}

static int is_below(const char *path) {
    return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* The path of an open file; empty if there is none. */
static void path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, PATH_MAX - 1, 0);
    path[length < 0 ? 0 : length] = 0;
}

/* The whole path that a call names. */
static void whole(int directory, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    char above[PATH_MAX];
    if (directory == AT_FDCWD) {
        if (!getcwd(above, sizeof above)) above[0] = 0;
    } else {
        path_of(directory, above);
    }
    if (snprintf(path, PATH_MAX, "%s/%s", above, name) >= PATH_MAX) abort();
}

/* The inode of an open file below the root; 0 if it is elsewhere. */
static uint64_t tracked(int file) {
    char path[PATH_MAX];
    struct stat found;
    path_of(file, path);
    return is_below(path) && !fstat(file, &found) ? found.st_ino : 0;
}

static void path_record(char kind, uint64_t inode, const char *path) {
    record(kind, inode, 0, path, strlen(path), 0, 0);
}

static long opened(int directory, const char *name, long flags, long mode) {
    char path[PATH_MAX];
    long file = call(SYS_openat, directory, (long)name, flags, mode, 0);
    if (file < 0 || !(flags & (O_CREAT | O_TRUNC))) return file;
    uint64_t inode = tracked(file);
    whole(directory, name, path);
    if (inode && flags & O_CREAT) path_record('O', inode, path);
    if (inode && flags & O_TRUNC) record('T', inode, 0, 0, 0, 0, 0);
    return file;
}

static void written(int file, const struct iovec *parts, int count, long offset, long length) {
    uint64_t inode = file == STDOUT_FILENO ? 0 : tracked(file);
    if (file != STDOUT_FILENO && !inode) return;
    if (inode && offset < 0) offset = lseek(file, 0, SEEK_CUR) - length;
    for (int n = 0; n < count && length > 0; n++) {
        long part = (long)parts[n].iov_len < length ? (long)parts[n].iov_len : length;
        record(inode ? 'W' : 'A', inode, offset, parts[n].iov_base, part, 0, 0);
        offset += part;
        length -= part;
    }
}

static long removed(int directory, const char *name, long flags) {
    char path[PATH_MAX];
    whole(directory, name, path);
    long result = call(SYS_unlinkat, directory, (long)name, flags, 0, 0);
    if (!result && is_below(path)) path_record('U', 0, path);
    return result;
}

static long two_paths(char kind, long number, long a, long b, long c, long d, long e) {
    char from[PATH_MAX], to[PATH_MAX];
    whole(a, (char *)b, from);
    whole(c, (char *)d, to);
    long result = call(number, a, b, c, d, e);
    if (!result && is_below(to)) record(kind, 0, 0, from, strlen(from), to, strlen(to));
    return result;
}

static long made(int directory, const char *name, long mode) {
    char path[PATH_MAX];
    struct stat found;
    whole(directory, name, path);
    long result = call(SYS_mkdirat, directory, (long)name, mode, 0, 0);
    if (!result && is_below(path) && !stat(path, &found)) path_record('D', found.st_ino, path);
    return result;
}

static long grown(long number, long a, long b, long c, long d) {
    struct stat found;
    uint64_t inode = tracked(a);
    long result = call(number, a, b, c, d, 0);
    if (!result && inode && !fstat(a, &found)) record('T', inode, found.st_size, 0, 0, 0, 0);
    return result;
}

static long perform(long number, long a, long b, long c, long d, long e) {
    uint64_t inode;
    struct iovec part = {(void *)b, c};
    long result;
    switch (number) {
#ifdef SYS_open
    case SYS_open: return opened(AT_FDCWD, (char *)a, b, c);
    case SYS_creat: return opened(AT_FDCWD, (char *)a, O_CREAT | O_WRONLY | O_TRUNC, b);
    case SYS_unlink: return removed(AT_FDCWD, (char *)a, 0);
    case SYS_rmdir: return removed(AT_FDCWD, (char *)a, AT_REMOVEDIR);
    case SYS_mkdir: return made(AT_FDCWD, (char *)a, b);
    case SYS_rename: return two_paths('R', SYS_renameat, AT_FDCWD, a, AT_FDCWD, b, 0);
    case SYS_link: return two_paths('L', SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0);
#endif
    case SYS_openat: return opened(a, (char *)b, c, d);
    case SYS_unlinkat: return removed(a, (char *)b, c);
    case SYS_mkdirat: return made(a, (char *)b, c);
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2: return two_paths('R', number, a, b, c, d, e);
    case SYS_linkat: return two_paths('L', number, a, b, c, d, e);
    case SYS_ftruncate: case SYS_fallocate: return grown(number, a, b, c, d);
    case SYS_fsync: case SYS_fdatasync:
        if ((inode = tracked(a))) record('S', inode, 0, 0, 0, 0, 0);
        return 0;
    case SYS_write: case SYS_pwrite64:
        result = call(number, a, b, c, d, e);
        if (result > 0) written(a, &part, 1, number == SYS_write ? -1 : d, result);
        return result;
    case SYS_writev: case SYS_pwritev:
        result = call(number, a, b, c, d, e);
        if (result > 0) written(a, (struct iovec *)b, c, number == SYS_writev ? -1 : d, result);
        return result;
    default: return -ENOSYS;
    }
}

static void trapped(int signal, siginfo_t *info, void *at) {
    (void)signal;
    ucontext_t *context = at;
    int saved = errno;
    while (__atomic_test_and_set(&held, __ATOMIC_ACQUIRE)) call(SYS_sched_yield, 0, 0, 0, 0, 0);
    long result = perform(info->si_syscall, ARGUMENT(context, 0), ARGUMENT(context, 1), ARGUMENT(context, 2),
                          ARGUMENT(context, 3), ARGUMENT(context, 4));
    __atomic_clear(&held, __ATOMIC_RELEASE);
    errno = saved;
    RESULT(context) = result;
}

#define TRAP(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
/* Ways to write that are not recorded: callers fall back on others. */
#define NONE(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

static void filter(void) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PASS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
        TRAP(open), TRAP(creat), TRAP(unlink), TRAP(rmdir), TRAP(mkdir), TRAP(rename), TRAP(link), NONE(truncate),
#endif
#ifdef SYS_renameat
        TRAP(renameat),
#endif
        TRAP(openat), TRAP(unlinkat), TRAP(mkdirat), TRAP(renameat2), TRAP(linkat), TRAP(ftruncate), TRAP(fallocate),
        TRAP(fsync), TRAP(fdatasync), TRAP(write), TRAP(pwrite64), TRAP(writev), TRAP(pwritev),
        NONE(pwritev2), NONE(copy_file_range), NONE(sendfile), NONE(splice), NONE(io_uring_setup), NONE(openat2),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) abort();
}

__attribute__((constructor)) static void begin(void) {
    const char *below = getenv("CENOTE_TRACE_ROOT"), *to = getenv("CENOTE_TRACE");
    struct stat found;
    if (!below || !to || !realpath(below, root) || stat(root, &found)) return;
    root_length = strlen(root);
    trace = open(to, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) abort();
    path_record('D', found.st_ino, root);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, 0)) abort();
    filter();
}
