// A process that waits from the start to be told of a crash, and makes the report while this one
// stands still: for where nothing in the process can be trusted.
//
// It listens at a socket of packets (AF_UNIX, SOCK_SEQPACKET) with a path. Who crashes connects,
// and the kernel says to both who the other is. Then a packet for each step:
//
//   process   a record (record.h) with registers, annotations and no frames
//   receiver  "READY": who says that is about to look at the process (SCM_CREDENTIALS)
//   process   "GO": it may (PR_SET_PTRACER), for as long as this takes
//   receiver  "+" and a sentence: the report is made, and where it is; or "-" and why it is not
//
// Where the connection ends, or a wait is too long, there is no report.
#pragma once

#include <sys/un.h>
#include <cstddef>

namespace whocall::runtime {

inline constexpr char kReady[] = "READY";  // without the zero
inline constexpr char kGo[] = "GO";        // likewise

class Receiver {
 public:
  // Copies the path; null: there is no receiver. Nobody has to listen yet. 0, or -1 with errno.
  int set(const char* path);
  [[nodiscard]] bool is_named() const { return address_.sun_path[0] != '\0'; }
  [[nodiscard]] const char* path() const { return address_.sun_path; }

  // In the handler: tells it of the crash and waits for what it says, which goes to `answer` with a
  // zero behind it, without its first letter. Whether the report is made; if not, `answer` is why.
  bool tell(const void* record, std::size_t size, char* answer, std::size_t room) const;

 private:
  sockaddr_un address_{};
};

}  // namespace whocall::runtime
