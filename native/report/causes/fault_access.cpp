#include "report/causes/fault_access.h"

#include <algorithm>
#include <vector>

#include "base/hex.h"
#include "report/causes/faults.h"

namespace whocall {
namespace {

using Verb = FaultAccess::Verb;

std::optional<Verb> verb_of(Use use) {
  switch (use) {
    case Use::reads:
      return Verb::reading;
    case Use::writes:
      return Verb::writing;
    case Use::changes:
      return Verb::changing;
    default:
      return std::nullopt;
  }
}

std::string_view word_of(Verb verb) {
  constexpr std::string_view kWords[] = {"reading", "writing", "reading and writing", "executing"};
  return kWords[static_cast<std::size_t>(verb)];
}

// "4 bytes"; empty where that is not known.
std::string bytes_text(std::uint64_t size) {
  return size == 0 ? std::string() : std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

// AArch64 leaves out the upper byte of an address, and so does the kernel's word on it.
Address compared(const Scene& scene, Address address) {
  constexpr Address kWithoutTag = (Address{1} << 56U) - 1;
  return scene.arch().family == "aarch64" ? address & kWithoutTag : address;
}

bool contains(const Scene& scene, const Access& access, Address fault) {
  return compared(scene, compared(scene, fault) - compared(scene, access.address)) < access.size;
}

// What forbids a change is that it writes, where reading is allowed.
Verb without_reading(const Scene& scene, Verb verb, Address fault) {
  const Mapping* const mapping = scene.image().mapping_at(fault);
  const bool may_read = mapping != nullptr && mapping->permissions_known && mapping->readable;
  return verb == Verb::changing && may_read && !mapping->writable ? Verb::writing : verb;
}

// Of those accesses that have the fault's address, or may have it. Where none is known to, what is
// accessed elsewhere `may_decide`: it has to be one of those.
std::optional<FaultAccess> by_instruction(const Scene& scene, Address fault, bool may_decide) {
  std::vector<const Access*> hit;
  for (const Access& each : scene.accesses()) {
    if (contains(scene, each, fault)) {
      hit.push_back(&each);
    }
  }
  std::vector<Use> uses(scene.accesses_elsewhere().begin(), scene.accesses_elsewhere().end());
  for (const Access* each : hit) {
    uses.push_back(each->use);
  }
  const auto verb = uses.empty() ? std::nullopt : verb_of(uses.front());
  if (!verb || (hit.empty() && !may_decide) ||
      std::ranges::any_of(uses, [&](Use each) { return each != uses.front(); })) {
    return std::nullopt;
  }
  FaultAccess found{.verb = without_reading(scene, *verb, fault)};
  if (uses.size() == 1 && hit.size() == 1 && hit.front()->is_whole) {
    found.begin = hit.front()->address;
    found.size = hit.front()->size;
  }
  return found;
}

}  // namespace

std::string_view to_string(Verb verb) {
  constexpr std::string_view kNames[] = {"read", "write", "read-write", "execute"};
  return kNames[static_cast<std::size_t>(verb)];
}

std::optional<FaultAccess> fault_access(const Scene& scene) {
  const auto& fault = scene.fault();
  if (!fault || !scene.is_memory_fault() || scene.was_sent()) {
    return std::nullopt;
  }
  // Bytes of the instruction at pc, which may be read as well as run.
  const bool is_at_pc = fault->address - scene.without_mode(scene.pc()) < kLongestFetch;
  if (scene.is_nowhere()) {
    return is_at_pc ? std::optional(FaultAccess{.verb = Verb::executing}) : std::nullopt;
  }
  const bool may_be_fetched =
      is_at_pc && (scene.signal() == "SIGBUS" || !scene.is_code(fault->address));
  if (!scene.operation() || may_be_fetched) {
    return std::nullopt;
  }
  return by_instruction(scene, fault->address, !is_at_pc);
}

std::string access_words(const FaultAccess& access, Address fault) {
  std::string text(word_of(access.verb));
  if (access.verb == Verb::executing) {
    return text + " " + hex(fault);
  }
  if (access.size != 0) {
    text += " " + bytes_text(access.size);
  }
  if (access.begin && *access.begin != fault && *access.begin + access.size > fault &&
      *access.begin < fault) {
    return text + " from " + hex(*access.begin) + " on, at " + hex(fault);
  }
  return text + " at " + hex(fault);
}

std::string access_sentence(const Scene& scene) {
  const Address address = scene.fault()->address;
  const auto access = fault_access(scene);
  return access ? "it was " + access_words(*access, address) : "it accessed " + hex(address);
}

std::string access_predicate(const Access& access) {
  const auto verb = verb_of(access.use);
  if (!verb) {
    return "accessed";
  }
  const std::string size = access.is_whole ? bytes_text(access.size) + " " : std::string();
  return "was " + std::string(word_of(*verb)) + " " + size + "at";
}

}  // namespace whocall
