#include "report/causes/scene.h"

#include <algorithm>

#include "base/hex.h"
#include "process/process_decoder.h"
#include "report/causes/faults.h"
#include "report/form/listing.h"
#include "report/form/operations.h"

namespace whocall {

Scene::Scene(const ProcessImage& image, const Thread& thread, const NamedWalk& walk,
             std::string_view signal, CodeValues* values)
    : image_(image),
      thread_(thread),
      walk_(walk),
      signal_(signal),
      values_(values),
      pc_(wrapped(thread.registers.get(arch().registers.pc).value_or(0))),
      sp_(wrapped(thread.registers.get(arch().registers.sp).value_or(0))) {
  if (is_code(pc_)) {
    const auto listed =
        list_instructions(image, {.at = pc_, .start = pc_, .before = 0, .after = 1});
    instruction_ = listed.empty() ? std::string() : listed.front().text;
    auto found = list_operations(image, pc_, kLongestFetch, 1);
    if (!found.empty() && found.front().address == pc_) {
      operation_ = std::move(found.front());
      accesses_ = whocall::accesses(image, registers(), *operation_);
    }
  }
  is_nowhere_ = find_nowhere();
  fault_ = find_fault();
}

std::optional<int> Scene::code() const {
  return thread_.signal_info ? thread_.signal_info->code : std::nullopt;
}

std::optional<std::uint64_t> Scene::operand() const {
  return operation_ ? value_of_operand(image_, registers(), *operation_) : std::nullopt;
}

bool Scene::signal_is(std::initializer_list<std::string_view> names) const {
  return std::ranges::find(names, signal_) != names.end();
}

std::string_view Scene::meaning() const {
  return code() ? fault_meaning(arch(), signal_, *code()) : std::string_view();
}

std::optional<std::uint32_t> Scene::sender() const {
  return was_sent() ? thread_.signal_info->pid : std::nullopt;
}

bool Scene::was_sent() const {
  if (!thread_.signal_info) {
    return false;
  }
  return code() ? tells_sender(*code()) : thread_.signal_info->pid.has_value();
}

std::optional<Address> Scene::told_address() const {
  return thread_.signal_info ? thread_.signal_info->address : std::nullopt;
}

std::optional<ShownAddress> Scene::find_fault() const {
  if (!code()) {
    return seen_fault();
  }
  const auto told = told_address();
  if (!told || !tells_fault_address(arch(), signal_, *code())) {
    return std::nullopt;
  }
  std::string proof = "the kernel gives " + hex(wrapped(*told)) + " as the fault's address";
  if (!instruction_.empty()) {
    proof += "; the instruction is `" + instruction_ + "`";
  }
  return ShownAddress{wrapped(*told), std::move(proof)};
}

// The address of a fault of which no si_code is told.
//
// Folklore. Situation: a dump keeps an address, and not what it is (flags 0 of a minidump), or
// nothing of the signal (qemu's cores). Example: of a pointer that no pointer can be the kernel
// tells the address 0, which is no access to null. Remedy: the address is the fault's where the
// instruction accesses it by the registers; so is one where nothing is mapped.
std::optional<ShownAddress> Scene::seen_fault() const {
  if (!is_memory_fault() || was_sent()) {
    return std::nullopt;
  }
  const auto told = told_address();
  const std::string dump = told ? "the dump gives " + hex(*told) + " as the fault's address, " : "";
  if (told && is_nowhere_ && (*told - pc_ < kLongestFetch || pc_ - *told < kLongestFetch)) {
    return ShownAddress{*told, dump + "the program counter's"};
  }
  for (const Access& access : accesses()) {
    if (told && access.contains(*told)) {
      return ShownAddress{*told, dump + "which `" + instruction_ + "` accesses"};
    }
  }
  for (const Access& access : accesses()) {
    if (!allows(access)) {
      const bool mapped = image_.mapping_at(access.address) != nullptr;
      return ShownAddress{access.address, "`" + instruction_ + "` accesses " + hex(access.address) +
                                              (mapped ? ", which the memory there does not allow"
                                                      : ", where nothing is mapped")};
    }
  }
  return std::nullopt;
}

// Whether memory may be there that allows an access, as far as that is known.
bool Scene::allows(const Access& access) const {
  if (image_.partial_map || image_.mappings.empty()) {
    return access.address >= kNearNull;
  }
  if (!is_canonical(access.address)) {
    return true;  // of which no address is told
  }
  const Mapping* const mapping = image_.mapping_at(access.address);
  if (mapping == nullptr) {
    return false;
  }
  const auto written = access.written();
  const bool fits = !written || (*written ? mapping->writable : mapping->readable);
  return !mapping->permissions_known || fits;
}

bool Scene::find_nowhere() const {
  const Mapping* const mapping = image_.mapping_at(pc_);
  if (is_code(pc_)) {
    const bool known = mapping != nullptr && mapping->permissions_known;
    return signal_ == "SIGSEGV" && !known && fetch_faulted();
  }
  if (!image_.partial_map || mapping != nullptr) {
    return true;
  }
  return pc_ < kNearNull || !is_canonical(pc_) || fetch_faulted();
}

// Whether the fault's address is of the instruction, and nothing that it accesses.
bool Scene::fetch_faulted() const {
  if (!is_memory_fault() || was_sent()) {
    return false;
  }
  auto address = told_address();
  if (code()) {
    address = address && tells_fault_address(arch(), signal_, *code())
                  ? std::optional(wrapped(*address))
                  : std::nullopt;
  }
  return address && *address - pc_ < kLongestFetch &&
         std::ranges::none_of(accesses(),
                              [&](const Access& each) { return each.contains(*address); });
}

bool Scene::is_code(Address address) const {
  if (const Mapping* const mapping = image_.mapping_at(address)) {
    return mapping->executable;
  }
  return image_.mappings.empty() || image_.module_at(address) != nullptr;
}

bool Scene::is_canonical(Address address) const {
  constexpr unsigned kBits = 47;
  const Address high = address >> kBits;
  return arch().abi.pointer_size < 8 || high == 0 || high == ~Address{0} >> kBits;
}

Address Scene::without_mode(Address address) const {
  return wrapped(arch().registers.mode ? address & arch().code.pointer_mask : address);
}

std::optional<Address> Scene::word_at(Address address) const {
  return image_.memory->read_unsigned(address, arch().abi.pointer_size, arch().abi.endian);
}

std::optional<Address> Scene::link_register() const {
  const auto& link = arch().registers.link;
  const auto value = link ? thread_.registers.get(*link) : std::nullopt;
  return value ? std::optional(without_mode(*value)) : std::nullopt;
}

std::string_view Scene::link_name() const {
  return arch().registers.link ? arch().registers.names[*arch().registers.link]
                               : std::string_view();
}

bool Scene::may_have_called(Address return_address, Address target) const {
  const auto before =
      list_instructions(image_, {.at = return_address, .start = {}, .before = 1, .after = 0});
  if (before.size() != 1) {
    return false;
  }
  if (before.front().target) {
    return *before.front().target == target;
  }
  const auto found = list_operations(image_, before.front().address, kLongestFetch, 1);
  if (found.empty()) {
    return true;
  }
  // x86's call has pushed its return address since, and the pointer that it called may lie on the
  // stack.
  Registers then = thread_.registers;
  if (is_x86(arch())) {
    then.set(arch().registers.sp, sp_ + arch().registers.size);
  }
  // Who was called there may have jumped on; nothing has changed since a call right away.
  const auto held = value_of_operand(image_, then, found.front());
  return !held || without_mode(*held) == target;
}

std::optional<FrameFacts> Scene::frame(std::size_t level) const {
  return level < walk_.size() ? std::optional(FrameFacts(walk_, level)) : std::nullopt;
}

std::string named(const FrameFacts& facts) {
  const std::string_view function = facts.named().function();
  if (function.empty()) {
    return hex(facts.frame().pc);
  }
  std::string name(function);
  name += facts.inferred() ? "?" : "";
  const auto offset = facts.offset();
  if (offset && *offset != 0 && !facts.named().inlined()) {
    name += "+" + std::to_string(*offset);
  }
  return name;
}

std::string permissions(const Mapping& mapping) {
  return {mapping.readable ? 'r' : '-', mapping.writable ? 'w' : '-',
          mapping.executable ? 'x' : '-'};
}

}  // namespace whocall
