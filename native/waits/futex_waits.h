// Waits at futexes: the word alone does not say what it stands for. The function of a library that
// waits does, and the memory around the word has to agree.
#pragma once

#include "waits/lock_calls.h"
#include "waits/lock_words.h"
#include "waits/thread_ids.h"
#include "waits/waiting.h"

namespace whocall {

class FutexWaits {
 public:
  // All must outlive it.
  FutexWaits(Walker& walker, Symbolizer& symbolizer, const ThreadIds& ids)
      : process_(walker.process()), ids_(ids), calls_(walker, symbolizer), reader_(process_) {}

  // Tells what a thread waits for that stands in futex(): `waiting` has the call.
  void tell(Waiting& waiting);

 private:
  [[nodiscard]] bool joins(const FutexWait& wait, Waiting& waiting) const;
  bool joins_by_state(const FutexWait& wait, Waiting& waiting) const;
  [[nodiscard]] bool is_glibc_mutex_by_itself(const FutexWait& wait, const KernelCall& call) const;
  void tell_mutex(const FutexWait& wait, Waiting& waiting) const;
  void tell_condition(const FutexWait& wait, Waiting& waiting) const;
  void tell_rwlock(const FutexWait& wait, bool writes, Waiting& waiting) const;
  void tell_unnamed(const FutexWait& wait, const WaitingFunction& function, Waiting& waiting) const;
  void take(const LockWords& words, WaitKind kind, Waiting& waiting) const;

  const ProcessImage& process_;
  const ThreadIds& ids_;
  LockCalls calls_;
  LockReader reader_;
};

}  // namespace whocall
