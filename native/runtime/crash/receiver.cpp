#include "runtime/crash/receiver.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "runtime/crash/other_threads.h"

namespace whocall::runtime {
namespace {

constexpr int kTriesToConnect = 20'000;   // half a millisecond each, that others may be before us
constexpr int kUntilReady = 50'000;       // milliseconds
constexpr int kUntilReported = 70'000;    // milliseconds
constexpr std::size_t kControlRoom = 64;  // bytes

class Deadline {
 public:
  explicit Deadline(int milliseconds) : left_(milliseconds) {
    clock_gettime(CLOCK_MONOTONIC, &begin_);
  }
  [[nodiscard]] int rest() const {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const auto seconds = static_cast<long>(now.tv_sec - begin_.tv_sec);
    const long passed = seconds * 1000 + (now.tv_nsec - begin_.tv_nsec) / 1'000'000;
    return passed < left_ ? left_ - static_cast<int>(passed) : 0;
  }

 private:
  timespec begin_{};
  int left_;
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

// Whoever else listens at the path may not look into the process, nor say what became of it.
bool may_report(const ucred& other) { return other.uid == 0 || other.uid == geteuid(); }

bool is_of_ours(int connection) {
  ucred listener{};
  socklen_t size = sizeof listener;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 &&
         may_report(listener);
}

// Where the kernel lets nobody trace but parents (Yama); elsewhere it has no effect. A receiver
// outside of this process' namespace has no number here.
void let_trace(pid_t receiver) {
  prctl(PR_SET_PTRACER, receiver > 0 ? static_cast<unsigned long>(receiver) : PR_SET_PTRACER_ANY, 0,
        0, 0);
}
void let_nobody_trace() { prctl(PR_SET_PTRACER, 0, 0, 0, 0); }

bool send_packet(int to, const void* bytes, std::size_t size) {
  return send(to, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

bool speak(int with, const void* record, std::size_t size, char* answer, std::size_t room) {
  if (!is_of_ours(with)) {
    errno = EPERM;
    return false;
  }
  if (!send_packet(with, record, size)) {
    return false;
  }
  Packet packet = take_packet(with, answer, room - 1, kUntilReady);
  if (packet.size == sizeof kReady - 1 && std::memcmp(answer, kReady, packet.size) == 0 &&
      may_report(packet.sender)) {
    let_trace(packet.sender.pid);
    packet = {};
    if (send_packet(with, kGo, sizeof kGo - 1)) {
      packet = take_packet(with, answer, room - 1, kUntilReported);
    }
    let_nobody_trace();
  }
  if (packet.size == 0 || !may_report(packet.sender)) {
    return false;
  }
  const bool is_made = answer[0] == '+';
  std::memmove(answer, answer + 1, packet.size - 1);
  answer[packet.size - 1] = '\0';
  errno = 0;
  return is_made;
}

bool connect_to(int connection, const sockaddr_un& address) {
  for (int i = 0; i < kTriesToConnect; ++i) {
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return true;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
    wait_a_moment();  // many processes crash at once
  }
  return false;
}

const char* words_for(int error) {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
    case ENOTSOCK:
    case EPROTOTYPE:
      return "nobody listens there";
    case EPERM:
      return "another user listens there";
    case EACCES:
      return "this process may not speak to it";
    case EPIPE:
    case ECONNRESET:
      return "it has ended";
    case ETIMEDOUT:
    case EAGAIN:
      return "it took too long";
    case EMFILE:
    case ENFILE:
      return "no more files can be opened";
    default:
      return "it cannot be spoken to";
  }
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
  return 0;
}

bool Receiver::tell(const void* record, std::size_t size, char* answer, std::size_t room) const {
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  answer[0] = '\0';
  const bool is_made =
      connection >= 0 && setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
      connect_to(connection, address_) && speak(connection, record, size, answer, room);
  const int error = errno;
  if (connection >= 0) {
    close(connection);
  }
  if (!is_made && (error != 0 || answer[0] == '\0')) {
    const char* const words = words_for(error);
    std::memcpy(answer, words, std::strlen(words) + 1);
  }
  return is_made;
}

}  // namespace whocall::runtime
