#include "waits/thread_ids.h"

#include <charconv>
#include <iterator>
#include <string>

#include "base/interrupt.h"
#include "process/local_process.h"
#include "process/proc_files.h"
#include "waits/lock_words.h"

namespace whocall {
namespace {

// The innermost of a thread's ids, and whether there are several: "NSpid:\t4242\t17". The kernel's
// own where it tells none.
struct InnermostId {
  std::int64_t id = 0;
  bool is_nested = false;
};

InnermostId innermost_id(std::int64_t pid, std::int64_t lwp) {
  const auto status =
      read_proc_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(lwp) + "/status");
  const std::string ids = status_field(status.value_or(""), "NSpid");
  const std::size_t last = ids.find_last_of(" \t");
  if (last == std::string::npos) {
    return {lwp, false};
  }
  std::int64_t id = 0;
  std::from_chars(ids.data() + last + 1, ids.data() + ids.size(), id);
  return {id, true};
}

}  // namespace

ThreadIds::ThreadIds(const ProcessImage& process)
    : process_(process), abi_(system_call_abi(*process.arch)), threads_(process.threads.size()) {
  find_ids();
  for (std::size_t index = 0; index < threads_.size(); ++index) {
    check_interrupt_at(index, kManyEntries);
    find_record(index);
    const auto [found, is_new] = by_tid_.try_emplace(threads_[index].tid, index);
    if (!is_new) {
      found->second.reset();
    }
  }
}

void ThreadIds::find_ids() {
  for (std::size_t index = 0; index < threads_.size(); ++index) {
    threads_[index].tid = process_.threads[index].lwp;
  }
  const std::int64_t pid = local_pid(process_);
  if (pid == 0 || threads_.empty() || !innermost_id(pid, threads_.front().tid).is_nested) {
    return;
  }
  for (ThreadId& thread : threads_) {
    check_interrupt();
    thread.tid = innermost_id(pid, thread.tid).id;
  }
}

void ThreadIds::find_record(std::size_t index) {
  const auto pointer = process_.arch->registers.thread_pointer;
  const auto where = pointer ? process_.threads[index].registers.get(*pointer) : std::nullopt;
  if (abi_ == nullptr || !where || *where == 0) {
    return;
  }
  const Endian endian = process_.arch->abi.endian;
  const unsigned word = process_.arch->abi.pointer_size;
  ThreadId& thread = threads_[index];
  thread.descriptor = *where;
  for (const auto& [library, form] :
       {std::pair(CLibrary::glibc, abi_->glibc), std::pair(CLibrary::musl, abi_->musl)}) {
    const Address tid = *where + form.tid;
    if (form.tid == 0 ||
        process_.memory->read_unsigned(*where + form.self, word, endian) != where ||
        process_.memory->read_unsigned(tid, 4, endian) != static_cast<std::uint32_t>(thread.tid)) {
      continue;
    }
    thread.library = library;
    libraries_[static_cast<int>(library)] = true;
    ends_.emplace(library == CLibrary::glibc ? tid : *where + form.detach_state, index);
    descriptors_.emplace(*where, index);
    return;
  }
}

std::optional<std::size_t> ThreadIds::with_tid(std::int64_t tid) const {
  const auto found = by_tid_.find(tid);
  if (found == by_tid_.end() || !found->second) {
    return std::nullopt;
  }
  const ThreadId& thread = threads_[*found->second];
  const bool has_record = abi_ != nullptr && abi_->glibc.tid != 0 && thread.descriptor != 0;
  return has_record && thread.library == CLibrary::unknown ? std::nullopt : found->second;
}

std::optional<std::size_t> ThreadIds::ending_at(Address address) const {
  const auto found = ends_.find(address);
  return found == ends_.end() ? std::nullopt : std::optional(found->second);
}

// struct pthread of glibc: the id, a link backwards (in 64-bit programs alone), and struct
// robust_list_head of <linux/futex.h>. A link of an inheriting mutex has bit 0 set.
bool ThreadIds::has_in_list(std::size_t index, Address link) const {
  constexpr unsigned kLongest = 2048;  // ROBUST_LIST_LIMIT of the kernel
  const ThreadId& thread = threads_[index];
  if (thread.library != CLibrary::glibc) {
    return false;
  }
  const unsigned size = process_.arch->abi.pointer_size;
  const auto pointer = [&](Address at) {
    return process_.memory->read_unsigned(at, size, process_.arch->abi.endian);
  };
  const bool wide = size == 8;
  const Address head = thread.descriptor + abi_->glibc.tid + (wide ? 16 : 4);
  if (pointer(head + size) != ((0 - robust_link(wide)) & process_.arch->address_mask())) {
    return false;
  }
  auto next = pointer(head);
  for (unsigned step = 0; step < kLongest && next && (*next & ~Address{1}) != head; ++step) {
    if ((*next & ~Address{1}) == link) {
      return true;
    }
    next = pointer(*next & ~Address{1});
  }
  return false;
}

std::optional<std::size_t> ThreadIds::with_record_around(Address address) const {
  // Less than glibc's struct pthread has, from 2.36 on; above it ends the thread's stack.
  const Address size = process_.arch->abi.pointer_size == 8 ? 0x800 : 0x400;
  const auto above = descriptors_.upper_bound(address);
  if (above == descriptors_.begin() || address - std::prev(above)->first >= size) {
    return std::nullopt;
  }
  return std::prev(above)->second;
}

std::optional<std::size_t> ThreadIds::at_descriptor(Address address) const {
  const auto found = descriptors_.find(address);
  return found == descriptors_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace whocall
