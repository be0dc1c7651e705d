#include "unwind/code/call_site.h"

#include <span>

namespace whocall {

ByteView code_before(const ProcessImage& process, Address address, std::size_t size,
                     CodeBytes& room) {
  const Endian endian = process.arch->abi.endian;
  const auto run = process.memory->run_at(address - size);
  if (run.size() >= size) {
    return {run.first(size), endian};
  }
  for (; size > 0; --size) {
    const auto wanted = std::span(room).first(size);
    if (process.memory->read(address - size, wanted) == size) {
      return {wanted, endian};
    }
  }
  return {{}, endian};
}

std::optional<CallSite> call_before(const ProcessImage& process, Address return_address) {
  const CodeModel& code = process.arch->code;
  CodeBytes room{};
  if (code.call_before == nullptr) {
    return std::nullopt;
  }
  const ByteView before = code_before(process, return_address, code.longest_call, room);
  return before.empty() ? std::nullopt : code.call_before(before, return_address);
}

bool begins_code(const ProcessImage& process, Address address) {
  const Mapping* mapping = process.mapping_at(address);
  const Module* module = process.module_at(address);
  const bool header = module != nullptr && module->range.begin == address;  // the vDSO's, as well
  return mapping != nullptr && mapping->executable && mapping->range.begin == address && !header &&
         !process.is_code(address - 1);
}

}  // namespace whocall
