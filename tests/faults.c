/* Makes one call that changes the file system fail: loaded before the C library by LD_PRELOAD, on
 * Linux.
 *
 * Calls on paths below one folder are counted and listed. The call of a given number fails, or the
 * process is killed before it. What to do and what was counted is in a file that all processes map
 * (FAULTS_STATE), so that a test sets a fault while they run and counts over all of them. faults.py
 * has the same structures.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { LISTED = 4096, PATH_BYTES = 1024 };
enum fault { NONE, NO_SPACE, IO_ERROR, DISK_FULL, DISK_LOST, SHORT_WRITE, KILL };
enum need { SPACE, NO_MORE_SPACE }; /* whether a call fails on a disk that is full */

struct call {
    char name[24];
    char path[PATH_BYTES];
    char from[PATH_BYTES]; /* of a rename or link: the name before */
};

struct state {
    char folder[PATH_BYTES]; /* only paths below it count; empty: none do */
    int64_t fault;
    int64_t number; /* of the call that fails, from 1 on */
    _Atomic int64_t calls;
    _Atomic int64_t failed; /* calls that were made to fail */
    int64_t killed;         /* the process that was killed */
    struct call listed[LISTED];
};

static struct state *state;

static void trap_renames(void);

__attribute__((constructor)) static void open_state(void) {
    const char *path = getenv("FAULTS_STATE");
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    state = mapped;
    trap_renames();
}

/* ----------------------------------------------------------------------------------- which path */

static int path_of_file(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_BYTES - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}

static void absolute(int folder, const char *given, char *path) {
    char base[PATH_BYTES] = "";
    if (given[0] == '/') {
        snprintf(path, PATH_BYTES, "%s", given);
        return;
    }
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) base[0] = 0;
    } else {
        path_of_file(folder, base);
    }
    if (snprintf(path, PATH_BYTES, "%s/%s", base, given) < 0) path[0] = 0;
}

/* ---------------------------------------------------------------------------- what is to happen */

static int is_watched(const char *path) {
    size_t length = strlen(state->folder);
    if (length == 0 || strncmp(path, state->folder, length) != 0) return 0;
    return path[length] == '/' || path[length] == 0;
}

/* Count a call: 0 if it goes ahead, an error number if it fails, -1 if it writes only a part. */
static int decide(const char *name, const char *from, const char *path, enum need need) {
    if (!is_watched(path)) return 0;

    int64_t number = atomic_fetch_add(&state->calls, 1) + 1;
    if (number <= LISTED) {
        struct call *call = &state->listed[number - 1];
        snprintf(call->name, sizeof call->name, "%s", name);
        snprintf(call->path, sizeof call->path, "%s", path);
        snprintf(call->from, sizeof call->from, "%s", from);
    }

    int now = number == state->number;
    int since = state->number > 0 && number >= state->number;
    int error = 0;
    switch (state->fault) {
    case NO_SPACE: error = now ? ENOSPC : 0; break;
    case IO_ERROR: error = now ? EIO : 0; break;
    case DISK_FULL: error = since && need == SPACE ? ENOSPC : 0; break;
    case DISK_LOST: error = since ? EIO : 0; break;
    case SHORT_WRITE: error = now ? -1 : 0; break;
    case KILL: error = now; break;
    default: break;
    }
    if (error && state->fault == KILL) state->killed = getpid();
    if (error) atomic_fetch_add(&state->failed, 1);
    if (error && state->fault == KILL) {
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    return error;
}

static int decide_two(const char *name, int from_folder, const char *from, int folder,
                      const char *to, enum need need) {
    if (!state || !from || !to) return 0;
    int before = errno;
    char path[PATH_BYTES], from_path[PATH_BYTES] = "";
    absolute(folder, to, path);
    if (from[0]) absolute(from_folder, from, from_path);
    int error = decide(name, from_path, path, need);
    errno = before;
    return error;
}

static int decide_at(const char *name, int folder, const char *path, enum need need) {
    return decide_two(name, AT_FDCWD, "", folder, path, need);
}

static int decide_file(const char *name, int file, enum need need) {
    if (!state) return 0;
    int before = errno;
    char path[PATH_BYTES];
    int error = path_of_file(file, path) ? decide(name, "", path, need) : 0;
    errno = before;
    return error;
}

/* The call itself, of the C library. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Fail with what was decided. A part makes sense only for a write: everything else goes ahead. */
#define FAIL_IF(decided)                                                                           \
    do {                                                                                           \
        int error_ = (decided);                                                                    \
        if (error_ > 0) {                                                                          \
            errno = error_;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

/* --------------------------------------------------------------------------------- files opened */

static int changes(int flags) {
    return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
}

static enum need need_of(int flags) { return flags & O_CREAT ? SPACE : NO_MORE_SPACE; }

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        MODE(flags)                                                                                \
        if (changes(flags)) FAIL_IF(decide_at("open", AT_FDCWD, path, need_of(flags)));            \
        return REAL(name)(path, flags, mode);                                                      \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...) {                                       \
        MODE(flags)                                                                                \
        if (changes(flags)) FAIL_IF(decide_at("open", folder, path, need_of(flags)));              \
        return REAL(name)(folder, path, flags, mode);                                              \
    }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name)                                                                                \
    int name(const char *path, mode_t mode) {                                                      \
        FAIL_IF(decide_at("open", AT_FDCWD, path, SPACE));                                         \
        return REAL(name)(path, mode);                                                             \
    }
CREAT(creat)
CREAT(creat64)

/* -------------------------------------------------------------------------------- bytes written */

static size_t part_of(size_t size, int decided) {
    return decided < 0 && size > 1 ? size / 2 : size;
}

ssize_t write(int file, const void *bytes, size_t size) {
    int decided = decide_file("write", file, SPACE);
    FAIL_IF(decided);
    return REAL(write)(file, bytes, part_of(size, decided));
}

#define PWRITE(name, offset_type)                                                                  \
    ssize_t name(int file, const void *bytes, size_t size, offset_type offset) {                   \
        int decided = decide_file("write", file, SPACE);                                           \
        FAIL_IF(decided);                                                                          \
        return REAL(name)(file, bytes, part_of(size, decided), offset);                            \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *parts, int count) {
    int decided = decide_file("write", file, SPACE);
    FAIL_IF(decided);
    return REAL(writev)(file, parts, (int)part_of((size_t)count, decided));
}

#define PWRITEV(name, offset_type)                                                                 \
    ssize_t name(int file, const struct iovec *parts, int count, offset_type offset) {             \
        int decided = decide_file("write", file, SPACE);                                           \
        FAIL_IF(decided);                                                                          \
        return REAL(name)(file, parts, (int)part_of((size_t)count, decided), offset);              \
    }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size,
                        unsigned int flags) {
    int decided = decide_file("write", out, SPACE);
    FAIL_IF(decided);
    return REAL(copy_file_range)(in, from, out, to, part_of(size, decided), flags);
}

#define SENDFILE(name, offset_type)                                                                \
    ssize_t name(int out, int in, offset_type *offset, size_t size) {                              \
        int decided = decide_file("write", out, SPACE);                                            \
        FAIL_IF(decided);                                                                          \
        return REAL(name)(out, in, offset, part_of(size, decided));                                \
    }
ssize_t sendfile(int, int, off_t *, size_t);
ssize_t sendfile64(int, int, off64_t *, size_t);
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

#define TRUNCATE(name, offset_type)                                                                \
    int name(int file, offset_type size) {                                                         \
        FAIL_IF(decide_file("truncate", file, SPACE));                                             \
        return REAL(name)(file, size);                                                             \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* Counted and not done: the system keeps what a killed process wrote, and thousands of runs wait
 * for no disk. */
int fsync(int file) {
    FAIL_IF(decide_file("sync", file, NO_MORE_SPACE));
    return 0;
}

int fdatasync(int file) {
    FAIL_IF(decide_file("sync", file, NO_MORE_SPACE));
    return 0;
}

/* ------------------------------------------------------------------- names given and taken away */

/* Some of Lance renames by a system call of its own and not through the C library. So the kernel is
 * asked to send a signal in place of every rename (seccomp), and the handler of the signal counts
 * it and does it. A rename with OURS as its sixth argument, which no rename has, is let through. */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define ARGUMENT(context, i)                                                                       \
    ((context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[i]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define ARGUMENT(context, i) ((context)->uc_mcontext.regs[i])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#else
#error "say here in which registers system calls have their arguments"
#endif
#ifdef SYS_rename
#define OLD_RENAME SYS_rename
#else
#define OLD_RENAME SYS_renameat /* newer architectures have no other */
#endif
#define OURS 0x0adafa17u

static void on_rename(int signal_number, siginfo_t *info, void *given) {
    (void)signal_number;
    int before = errno;
    ucontext_t *context = given;
    long number = info->si_syscall;
    long argument[5];
    for (int i = 0; i < 5; i++) argument[i] = (long)ARGUMENT(context, i);

    int has_folders = number == SYS_renameat || number == SYS_renameat2;
    int from_folder = has_folders ? (int)argument[0] : AT_FDCWD;
    int to_folder = has_folders ? (int)argument[2] : AT_FDCWD;
    const char *from = (const char *)argument[has_folders ? 1 : 0];
    const char *to = (const char *)argument[has_folders ? 3 : 1];
    long result = -decide_two("rename", from_folder, from, to_folder, to, NO_MORE_SPACE);
    if (result >= 0) {
        result = syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                         (long)OURS);
        if (result < 0) result = -errno;
    }
    RESULT(context) = result;
    errno = before;
}

static void trap_renames(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OLD_RENAME, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OURS, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    struct sigaction action = {.sa_sigaction = on_rename, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGSYS, &action, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("faults.c: renames cannot be watched");
        abort();
    }
}

int link(const char *from, const char *to) {
    FAIL_IF(decide_two("link", AT_FDCWD, from, AT_FDCWD, to, SPACE));
    return REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    FAIL_IF(decide_two("link", from_folder, from, to_folder, to, SPACE));
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int symlink(const char *target, const char *path) {
    FAIL_IF(decide_at("link", AT_FDCWD, path, SPACE));
    return REAL(symlink)(target, path);
}

int mkdir(const char *path, mode_t mode) {
    FAIL_IF(decide_at("mkdir", AT_FDCWD, path, SPACE));
    return REAL(mkdir)(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    FAIL_IF(decide_at("mkdir", folder, path, SPACE));
    return REAL(mkdirat)(folder, path, mode);
}

int unlink(const char *path) {
    FAIL_IF(decide_at("remove", AT_FDCWD, path, NO_MORE_SPACE));
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags) {
    FAIL_IF(decide_at("remove", folder, path, NO_MORE_SPACE));
    return REAL(unlinkat)(folder, path, flags);
}

int rmdir(const char *path) {
    FAIL_IF(decide_at("remove", AT_FDCWD, path, NO_MORE_SPACE));
    return REAL(rmdir)(path);
}

int remove(const char *path) {
    FAIL_IF(decide_at("remove", AT_FDCWD, path, NO_MORE_SPACE));
    return REAL(remove)(path);
}
