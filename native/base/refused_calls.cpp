#include "base/refused_calls.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace whocall {
namespace {

const std::uint32_t kRefused = SyscallFilter::error(EPERM);
const std::uint32_t kUnwritable = SyscallFilter::error(EACCES);
const std::uint32_t kAbsent = SyscallFilter::error(ENOSYS);  // callers know another way

// Numbers that the headers of older systems lack; they are the same on all machines.
constexpr int kPidfdSendSignal = 424;
constexpr int kIoUringSetup = 425;
constexpr int kIoUringEnter = 426;
constexpr int kIoUringRegister = 427;
constexpr int kOpenTree = 428;
constexpr int kMoveMount = 429;
constexpr int kFsOpen = 430;
constexpr int kFsConfig = 431;
constexpr int kFsMount = 432;
constexpr int kFsPick = 433;
constexpr int kClone3 = 435;
constexpr int kOpenAt2 = 437;
constexpr int kPidfdGetFd = 438;
constexpr int kProcessMadvise = 440;
constexpr int kMountSetAttr = 442;
constexpr int kQuotaCtlFd = 443;
constexpr int kProcessMRelease = 448;
constexpr int kFChModAt2 = 452;
constexpr int kSetXAttrAt = 463;
constexpr int kRemoveXAttrAt = 466;
constexpr int kOpenTreeAttr = 467;
constexpr int kFileSetAttr = 469;

// Nobody here has any use for them, and each has been a way out of somewhere, or means the whole
// machine.
void refuse_the_machine(SyscallFilter& filter) {
  filter.refuse(
      {SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, kOpenTree,
       kMoveMount, kFsOpen, kFsConfig, kFsMount, kFsPick, kMountSetAttr, kOpenTreeAttr},
      kRefused);
  filter.refuse({SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_sethostname, SYS_setdomainname,
                 SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
                 SYS_kexec_file_load, SYS_quotactl, kQuotaCtlFd, SYS_settimeofday,
                 SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_vhangup, SYS_syslog},
                kRefused);
  filter.refuse({SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
                 SYS_request_key, SYS_open_by_handle_at, SYS_fanotify_init},
                kRefused);
  // What such a queue is told to do passes by every filter.
  filter.refuse({kIoUringSetup, kIoUringEnter, kIoUringRegister}, kAbsent);
#ifdef __x86_64__
  filter.refuse({SYS_iopl, SYS_ioperm, SYS_uselib, SYS_modify_ldt}, kRefused);
#endif
  // A terminal takes characters as if its user had typed them, into the shell that comes next.
  filter.refuse_if(
      SYS_ioctl, {1},
      {TIOCSTI, TIOCLINUX, TIOCSCTTY, TIOCSETD, TIOCCONS, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR},
      kRefused);
  filter.refuse_bits(SYS_clone,
                     {0, CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                             CLONE_NEWUTS | CLONE_NEWCGROUP},
                     kRefused);
  filter.refuse(kClone3, kAbsent);  // has its flags in memory, where no filter sees them
}

void refuse_other_processes(SyscallFilter& filter, const SandboxRights& rights,
                            std::uint32_t never) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  if (!rights.children && !rights.programs) {
    filter.refuse_unless(SYS_kill, {0}, {self}, kRefused);
    filter.refuse_unless(SYS_tgkill, {0}, {self}, kRefused);
    filter.refuse({SYS_tkill, kPidfdSendSignal}, kRefused);
  }
  filter.refuse_unless(SYS_rt_sigqueueinfo, {0}, {self}, kRefused);
  filter.refuse_unless(SYS_rt_tgsigqueueinfo, {0}, {self}, kRefused);
  filter.refuse_unless(SYS_prlimit64, {0}, {0, self}, kRefused);
  filter.refuse(SYS_process_vm_writev, never);
  filter.refuse({kPidfdGetFd, kProcessMadvise, kProcessMRelease, SYS_move_pages, SYS_migrate_pages},
                kRefused);
  // Memory, messages and locks that are known by a number to all processes.
  filter.refuse({SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
                 SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink},
                kRefused);
  if (rights.processes) {  // what holds threads still, and reads their registers
    std::vector<std::uint32_t> requests;
    for (const auto request : {PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GETREGSET, PTRACE_DETACH}) {
      requests.push_back(static_cast<std::uint32_t>(request));
    }
    filter.refuse_unless(SYS_ptrace, {0}, requests, never);
  } else {
    filter.refuse(SYS_ptrace, never);
    filter.refuse({SYS_process_vm_readv, SYS_kcmp}, kRefused);
  }
}

void refuse_sockets(SyscallFilter& filter, bool network, std::uint32_t never) {
  // Pairs have nobody outside, but a datagram can name where it goes.
  filter.refuse_if(SYS_socketpair, {1, 0xf}, {SOCK_DGRAM}, kRefused);
  filter.refuse(SYS_listen, never);
  if (network) {  // services of this machine (containers, buses) run programs for who asks
    filter.refuse_unless(SYS_socket, {0}, {AF_INET, AF_INET6, AF_NETLINK}, kRefused);
    return;
  }
  filter.refuse(SYS_socket, kRefused);
  filter.refuse({SYS_connect, SYS_bind}, never);
}

// Landlock refuses that too; but not to whoever may read other processes, not on older kernels, and
// it does not know of what stands beside a file's bytes: owners, permissions, times, attributes.
void refuse_writing(SyscallFilter& filter) {
  constexpr std::uint32_t kToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  filter.refuse_bits(SYS_openat, {2, kToWrite}, kUnwritable);
  filter.refuse(kOpenAt2, kAbsent);  // has its flags in memory
  filter.refuse({SYS_renameat2,  SYS_unlinkat, SYS_mkdirat,     SYS_mknodat,      SYS_linkat,
                 SYS_symlinkat,  SYS_truncate, SYS_fchmod,      SYS_fchmodat,     kFChModAt2,
                 SYS_fchown,     SYS_fchownat, SYS_utimensat,   SYS_setxattr,     SYS_lsetxattr,
                 SYS_fsetxattr,  kSetXAttrAt,  SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
                 kRemoveXAttrAt, kFileSetAttr},
                kUnwritable);
#ifdef SYS_renameat
  filter.refuse(SYS_renameat, kUnwritable);
#endif
#ifdef __x86_64__  // whose first calls later machines never had
  filter.refuse_bits(SYS_open, {1, kToWrite}, kUnwritable);
  filter.refuse(
      {SYS_creat, SYS_rename, SYS_unlink, SYS_rmdir, SYS_mkdir, SYS_mknod, SYS_link, SYS_symlink,
       SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat},
      kUnwritable);
#endif
}

}  // namespace

SyscallFilter refused_calls(const SandboxRights& rights) {
  SyscallFilter filter;
  // A program that is started knows nothing of the signal, and may try what it can do without.
  const std::uint32_t never = rights.programs ? kRefused : SyscallFilter::signal();
  if (!rights.programs) {
    filter.refuse({SYS_execve, SYS_execveat}, never);
  }
  refuse_the_machine(filter);
  refuse_other_processes(filter, rights, never);
  refuse_sockets(filter, rights.network, never);
  if (rights.writable.empty() && !rights.programs) {
    refuse_writing(filter);
  }
  return filter;
}

}  // namespace whocall
