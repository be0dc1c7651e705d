// PE files (.exe and .dll of Windows) that a Linux process has loaded, as Wine does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arch/architecture.h"
#include "base/budget.h"
#include "memory/memory.h"
#include "object/elf_file.h"
#include "process/modules/loaded_object.h"
#include "process/process_image.h"

namespace whocall {

// The objects of the mappings that hold PE files, none of which is in group_mappings()' list under
// another form: what is there of their files is taken out of it. `has_file` says whether the file
// of an object is at hand, and is a PE file; it is asked where memory does not tell.
//
// A PE file whose parts do not lie at whole pages is read into memory, and only the page of its
// headers is a mapping of the file. So what belongs to it is all that follows without a gap, up to
// the size that the headers tell. .NET maps each section where it belongs, and leaves gaps.
void take_pe_objects(std::span<const Mapping> mappings, const Memory& memory,
                     const std::function<bool(const LoadedObject&)>& has_file,
                     std::vector<LoadedObject>& objects);

// Whether `file`, an ELF file made of a PE file, is the one that the object is a loading of: its
// headers are those in memory; where these are not there, its code lies where code may be, and is
// what memory holds, as far as it holds any.
bool is_pe_of(const LoadedObject& object, const ElfFile& file, std::span<const Mapping> mappings,
              const Memory& memory);

// The file put together again from memory; null unless headers, code and tables can be read.
std::shared_ptr<const ElfFile> rebuild_pe(const LoadedObject& object, const Memory& memory,
                                          const std::string& name, Budget& budget);

}  // namespace whocall
