#include "runtime/crash/receiver.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "runtime/crash/other_threads.h"

namespace whocall::runtime {
namespace {

constexpr int kLeastNumber = 100;         // programs close the first ones, or reuse them
constexpr int kMoments = 20'000;          // half a millisecond each, that its queue may be full
constexpr int kUntilReady = 20'000;       // milliseconds
constexpr int kUntilReported = 100'000;   // milliseconds
constexpr std::size_t kControlRoom = 64;  // bytes

struct Deadline {
  explicit Deadline(int milliseconds) : left(milliseconds) { clock_gettime(CLOCK_MONOTONIC, &at); }
  [[nodiscard]] int rest() const {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long passed = (now.tv_sec - at.tv_sec) * 1000 + (now.tv_nsec - at.tv_nsec) / 1'000'000;
    return passed < left ? left - static_cast<int>(passed) : 0;
  }

  timespec at{};
  int left;
};

struct Packet {
  std::size_t size = 0;  // 0: none came
  ucred sender{};
};

// A signal that is handled meanwhile, or a tracer that comes, interrupts the wait and not more.
bool wait_for_packet(int from, int milliseconds) {
  const Deadline deadline(milliseconds);
  pollfd wanted{.fd = from, .events = POLLIN, .revents = 0};
  while (poll(&wanted, 1, deadline.rest()) < 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  if ((wanted.revents & POLLIN) == 0) {
    errno = wanted.revents == 0 ? ETIMEDOUT : EPIPE;
    return false;
  }
  return true;
}

Packet take_packet(int from, void* place, std::size_t room, int milliseconds) {
  Packet packet;
  if (!wait_for_packet(from, milliseconds)) {
    return packet;
  }
  alignas(cmsghdr) char control[kControlRoom];
  iovec bytes{.iov_base = place, .iov_len = room};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t taken = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = taken > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_level != SOL_SOCKET ||
      header->cmsg_type != SCM_CREDENTIALS) {
    errno = EPIPE;
    return packet;
  }
  std::memcpy(&packet.sender, CMSG_DATA(header), sizeof packet.sender);
  packet.size = static_cast<std::size_t>(taken);
  return packet;
}

// Whoever else answers at the path may not look into the process, nor say what became of it.
bool may_report(const ucred& sender) { return sender.uid == 0 || sender.uid == geteuid(); }

// Where the kernel lets nobody trace but parents (Yama); elsewhere it has no effect. A receiver
// outside of this process' namespace has no number here.
void let_trace(pid_t receiver) {
  prctl(PR_SET_PTRACER, receiver > 0 ? static_cast<unsigned long>(receiver) : PR_SET_PTRACER_ANY, 0,
        0, 0);
}

bool speak(int with, const void* record, std::size_t size, char* answer, std::size_t room) {
  Packet packet = take_packet(with, answer, room, kUntilReady);
  if (packet.size == 0) {
    return false;
  }
  const bool is_ready =
      packet.size == sizeof kReady - 1 && std::memcmp(answer, kReady, sizeof kReady - 1) == 0;
  if (!is_ready || !may_report(packet.sender)) {
    errno = EPERM;
    return false;
  }
  let_trace(packet.sender.pid);
  if (send(with, record, size, MSG_NOSIGNAL | MSG_DONTWAIT) != static_cast<ssize_t>(size)) {
    return false;
  }
  packet = take_packet(with, answer, room - 1, kUntilReported);
  answer[packet.size] = '\0';
  return packet.size != 0 && may_report(packet.sender);
}

}  // namespace

int Receiver::set(const char* path) {
  address_ = {};
  if (path == nullptr) {
    return 0;
  }
  if (*path == '\0' || std::strlen(path) >= sizeof address_.sun_path) {
    errno = *path == '\0' ? EINVAL : ENAMETOOLONG;
    return -1;
  }
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, path, std::strlen(path) + 1);
  connect_again();  // where nobody listens yet: once more when it crashes
  return 0;
}

// Programs close descriptors that they do not know, and open others in their places.
bool Receiver::is_own_socket() const {
  struct stat found;
  return socket_ >= 0 && fstat(socket_, &found) == 0 && S_ISSOCK(found.st_mode) &&
         found.st_dev == device_ && found.st_ino == inode_;
}

bool Receiver::connect_again() {
  if (is_own_socket()) {
    close(socket_);
  }
  socket_ = -1;
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) {
    return false;
  }
  struct stat found;
  if (connect(made, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0 ||
      fstat(made, &found) != 0) {
    const int kept = errno;
    close(made);
    errno = kept;
    return false;
  }
  const int high = fcntl(made, F_DUPFD_CLOEXEC, kLeastNumber);
  if (high >= 0) {
    close(made);
  }
  socket_ = high >= 0 ? high : made;
  device_ = static_cast<std::size_t>(found.st_dev);
  inode_ = static_cast<std::size_t>(found.st_ino);
  return true;
}

bool Receiver::greet(int to_hand_over) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof to_hand_over)] = {};
  char greeting[sizeof kGreeting];
  std::memcpy(greeting, kGreeting, sizeof greeting);
  iovec bytes{.iov_base = greeting, .iov_len = sizeof kGreeting - 1};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof to_hand_over);
  std::memcpy(CMSG_DATA(header), &to_hand_over, sizeof to_hand_over);
  for (int i = 0; i < kMoments; ++i) {
    if (sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
      return true;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
      return false;
    }
    wait_a_moment();  // many processes crash at once
  }
  return false;
}

bool Receiver::tell(const void* record, std::size_t size, char* answer, std::size_t room) {
  const bool was_open = is_own_socket();
  if (!was_open && !connect_again()) {
    return false;
  }
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return false;
  }
  const int on = 1;
  bool is_told = setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
                 // One that has gone since may have come again.
                 (greet(pair[1]) || (was_open && connect_again() && greet(pair[1])));
  int kept = errno;
  close(pair[1]);  // so that nobody holds it but the receiver
  if (is_told) {
    is_told = speak(pair[0], record, size, answer, room);
    kept = errno;
  }
  close(pair[0]);
  errno = kept;
  return is_told;
}

}  // namespace whocall::runtime
