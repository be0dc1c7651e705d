// Where the kernel says that the program begins: known also where the file and its header are not.
#pragma once

#include <optional>

#include "process/process_image.h"

namespace whocall {

struct ProgramEntry {
  std::optional<Address> address;  // runtime
};

// The first who says it is believed.
inline const ProgramEntry& keep_program_entry(const ProcessImage& process,
                                              std::optional<Address> address) {
  return process.attachments().get<ProgramEntry>([&] { return ProgramEntry{address}; });
}

inline std::optional<Address> program_entry(const ProcessImage& process) {
  return keep_program_entry(process, std::nullopt).address;
}

}  // namespace whocall
