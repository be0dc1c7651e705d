// What programs call their threads: the kernel's ids as locks hold them, and where the C library
// keeps what it knows of each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "arch/system_call_abi.h"
#include "process/process_image.h"

namespace whocall {

enum class CLibrary : std::uint8_t { unknown, glibc, musl };

// One thread as its own process sees it.
struct ThreadId {
  std::int64_t tid = 0;                  // in the process's own namespace of ids
  CLibrary library = CLibrary::unknown;  // whose record of the thread agrees with its id
  Address descriptor = 0;                // where the thread pointer leads; 0: not known
};

class ThreadIds {
 public:
  // The process must outlive it.
  explicit ThreadIds(const ProcessImage& process);

  [[nodiscard]] const ThreadId& operator[](std::size_t index) const { return threads_[index]; }
  // The thread of this id, by its index in the process; a miss where there is none, where two have
  // it, or where the thread's own record calls it otherwise.
  //
  // Folklore. Situation: a debugger in another namespace of ids wrote the core, whose threads have
  // its numbers, and locks have those of the process. Example: gcore on a process in a container.
  // Remedy: an id counts where the C library's record of the thread has it too.
  [[nodiscard]] std::optional<std::size_t> with_tid(std::int64_t tid) const;
  // Whether the record of any thread tells the C library.
  [[nodiscard]] bool has(CLibrary library) const { return libraries_[static_cast<int>(library)]; }
  // The thread for whose end somebody waits at this address: glibc waits at the id's word, which
  // the kernel clears, and musl at its state.
  [[nodiscard]] std::optional<std::size_t> ending_at(Address address) const;
  // Whether the list of robust mutexes that a thread has, which the kernel reads when it ends,
  // holds this link: no other thread can have put it there, of this process or another.
  [[nodiscard]] bool has_in_list(std::size_t index, Address link) const;
  // The thread in whose record an address lies.
  [[nodiscard]] std::optional<std::size_t> with_record_around(Address address) const;
  // The thread whose record begins there.
  [[nodiscard]] std::optional<std::size_t> at_descriptor(Address address) const;

 private:
  void find_ids();
  void find_record(std::size_t index);

  const ProcessImage& process_;
  const SystemCallAbi* abi_;
  std::vector<ThreadId> threads_;  // as the process has them
  bool libraries_[3] = {};
  std::unordered_map<std::int64_t, std::optional<std::size_t>> by_tid_;  // a miss: two have it
  std::unordered_map<Address, std::size_t> ends_;
  std::map<Address, std::size_t> descriptors_;
};

}  // namespace whocall
