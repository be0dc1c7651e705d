// A process that waits from the start to be told of a crash, and makes the report while this one
// stands still: for where nothing in the process can be trusted.
//
// It listens at a socket of datagrams (AF_UNIX) with a path. Who crashes sends it kGreeting and one
// end of a pair of sockets (SCM_RIGHTS). Over that the two speak, a packet for each step, and the
// kernel says who sent it (SCM_CREDENTIALS):
//
//   receiver  "READY": it is ready to look at the process, and is who may (PR_SET_PTRACER)
//   process   a record (record.h) with registers, annotations and no frames
//   receiver  a sentence, not empty: the report is made, and where it is
//
// The end that is closed, or a wait that is too long, means that there is no report.
#pragma once

#include <sys/un.h>
#include <cstddef>

namespace whocall::runtime {

inline constexpr char kGreeting[] = "WHOCALL1";  // without the zero
inline constexpr char kReady[] = "READY";        // likewise

class Receiver {
 public:
  // Opens the way to whoever listens at `path`, which is copied; null: there is no receiver. That
  // nobody listens yet is no error. 0, or -1 with errno.
  int set(const char* path);
  [[nodiscard]] bool is_named() const { return address_.sun_path[0] != '\0'; }
  [[nodiscard]] const char* path() const { return address_.sun_path; }

  // In the handler: tells it of the crash and waits for what it says, which goes to `answer` with a
  // zero behind it. False, with errno: nobody makes the report.
  bool tell(const void* record, std::size_t size, char* answer, std::size_t room);

 private:
  [[nodiscard]] bool is_own_socket() const;
  bool connect_again();
  bool greet(int to_hand_over);

  sockaddr_un address_{};
  int socket_ = -1;
  std::size_t device_ = 0;  // of the socket's own, to know it from what took its number
  std::size_t inode_ = 0;
};

}  // namespace whocall::runtime
