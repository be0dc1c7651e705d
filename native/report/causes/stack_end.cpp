#include "report/causes/stack_end.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "report/causes/faults.h"
#include "report/form/cycles.h"
#include "report/form/numbers.h"

namespace whocall {
namespace {

constexpr Address kNearStack = Address{1} << 16U;  // bytes below it: pages that guard it, a frame
// What is further off is no frame but a bad stack pointer.
constexpr Address kLargestFrame = Address{1} << 30U;  // bytes
constexpr std::size_t kInnermost = 8;  // frames, of which one tells what the stack is
constexpr std::size_t kMostNames = 3;

// How much below the stack pointer an instruction may touch: what it pushes, the red zone, and the
// frame that PowerPC's `stdu` makes.
Address pushed(const Architecture& arch) {
  return is_x86(arch) ? 128 + 8 : arch.name.starts_with("ppc") ? Address{1} << 15U : 512;
}

// What the innermost frames lie in, where that is above the stack pointer or around it.
std::optional<AddressRange> stack_of_thread(const Scene& scene) {
  for (std::size_t level = 0; level < std::min(kInnermost, scene.walk().size()); ++level) {
    const FrameFacts facts(scene.walk(), level);
    const auto cfa = facts.cfa();
    const Mapping* const mapping = cfa ? scene.image().mapping_at(*cfa) : nullptr;
    if (mapping == nullptr || facts.frame().trust == Trust::scan || !mapping->writable) {
      continue;
    }
    const auto [begin, end] = mapping->range;
    const Address furthest = level == 0 ? kLargestFrame : kNearStack;
    const bool close = scene.sp() < end && (scene.sp() >= begin || begin - scene.sp() <= furthest);
    return close ? std::optional(mapping->range) : std::nullopt;
  }
  return std::nullopt;
}

// Whether it lies below the stack, where no memory is: a guard has no permissions.
bool is_beyond(const Scene& scene, const AddressRange& stack, Address address) {
  const Mapping* const hit = scene.image().mapping_at(address);
  return address < stack.begin &&
         (hit == nullptr || !(hit->readable || hit->writable || hit->executable));
}

std::string size_text(std::uint64_t count) {
  constexpr std::pair<std::uint64_t, const char*> kUnits[] = {
      {1U << 30U, "GiB"}, {1U << 20U, "MiB"}, {1U << 10U, "KiB"}};
  for (const auto& [unit, name] : kUnits) {
    if (count >= unit) {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%.3g %s",
                    static_cast<double>(count) / static_cast<double>(unit), name);
      return text.data();
    }
  }
  return std::to_string(count) + " bytes";
}

std::string shown_name(const FrameFacts& facts) {
  const std::string_view function = facts.named().function();
  return function.empty() ? "??" : std::string(function) + (facts.inferred() ? "?" : "");
}

// ", 261,984 of them a recursion of f, g"; empty where none is to be seen.
std::string recursion(const Scene& scene) {
  const auto gaps = find_gaps(scene.walk(), {.count = scene.walk().size()});
  const auto longest =
      std::ranges::max_element(gaps, {}, [](const Gap& gap) { return gap.end - gap.begin; });
  if (longest == gaps.end()) {
    return {};
  }
  std::vector<std::string> names;
  for (std::size_t i = longest->begin - longest->period; i < longest->begin; ++i) {
    std::string name = shown_name(FrameFacts(scene.walk(), i));
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  std::string text = ", " + with_commas(longest->end - longest->begin + longest->period) +
                     " of them a recursion of ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    (text += i == 0 ? "" : ", ") += names[i];
  }
  if (names.size() > kMostNames) {
    text += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
  return text;
}

}  // namespace

std::optional<AddressRange> used_up_stack(const Scene& scene) {
  if (!scene.is_memory_fault() || scene.was_sent()) {
    return std::nullopt;
  }
  const auto stack = stack_of_thread(scene);
  if (!stack || scene.image().partial_map) {  // where the stack begins is not known
    return std::nullopt;
  }
  const auto& fault = scene.fault();
  if (!fault) {
    // With a handler for the signal, but without a stack for it, the kernel finds no room to call
    // it, and ends the program without telling the address.
    const Address beyond = scene.sp() - scene.arch().registers.size;
    return scene.code() == kFromKernel && is_beyond(scene, *stack, beyond) ? stack : std::nullopt;
  }
  if (fault->address + pushed(scene.arch()) < scene.sp()) {
    return std::nullopt;
  }
  return is_beyond(scene, *stack, fault->address) ? stack : std::nullopt;
}

bool may_be_used_up(const Scene& scene) {
  const auto& fault = scene.fault();
  if (!fault || fault->address + pushed(scene.arch()) < scene.sp() ||
      fault->address >= scene.sp() + kNearStack) {
    return false;
  }
  if (scene.operation() && scene.operation()->flow == Operation::Flow::leave) {
    return false;  // a return grows nothing
  }
  const Mapping* const stack = scene.image().mapping_at(scene.sp());
  return scene.image().partial_map || stack == nullptr || !stack->writable;
}

std::optional<Fact> stack_overflow(const Scene& scene) {
  const auto stack = used_up_stack(scene);
  if (!stack) {
    return std::nullopt;
  }
  std::string text = "the stack overflowed";
  if (scene.walk().stop().reason != StopReason::frame_limit) {  // else there are more frames
    const auto last = FrameFacts(scene.walk(), scene.walk().size() - 1).cfa();
    // Other memory may follow the stack right away.
    const Address end = last && stack->begin < *last && *last <= stack->end ? *last : stack->end;
    text += ": " + size_text(end - stack->begin) + " are used up by " +
            with_commas(scene.walk().size()) + " frames" + recursion(scene);
  }
  if (stack->begin > scene.sp() && stack->begin - scene.sp() > kNearStack) {
    text += "; " + shown_name(FrameFacts(scene.walk(), 0)) + " takes " +
            size_text(stack->begin - scene.sp()) + " more";
  }
  std::string told = "the kernel tells no address";
  if (const auto& fault = scene.fault()) {
    told = "the fault's address " + hex(fault->address) + " lies below it";
  }
  return Fact{"stack-overflow", std::move(text),
              "the stack begins at " + hex(stack->begin) + ", " + told +
                  ", and the stack pointer is " + hex(scene.sp())};
}

}  // namespace whocall
