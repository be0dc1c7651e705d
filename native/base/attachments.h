// What others find out about an object, kept with it: one thing of each type, made when it is first
// asked for, and shared by all who ask.
#pragma once

#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>

namespace whocall {

class Attachments {
 public:
  // The `T` that make() returned when it was asked for first. May be called from threads, and
  // recursively for another type. What make() throws passes through, and the next one makes it.
  template <typename T, typename Make>
  const T& get(const Make& make) {
    Slot& slot = slot_of(typeid(T));
    std::call_once(slot.made, [&] { slot.value = std::make_shared<T>(make()); });
    return *static_cast<const T*>(slot.value.get());
  }

 private:
  struct Slot {
    std::once_flag made;
    std::shared_ptr<const void> value;
  };
  Slot& slot_of(std::type_index type) {
    const std::scoped_lock lock(mutex_);
    return slots_[type];  // stays where it is
  }

  std::mutex mutex_;
  std::unordered_map<std::type_index, Slot> slots_;
};

}  // namespace whocall
