// Rules as data, for comparison with other tools, and the bare frame chain.
#include <pybind11/stl.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "arch/architecture_choice.h"
#include "memory/segment_memory.h"
#include "object/elf_architecture.h"
#include "object/exidx.h"
#include "object/load_bias.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/session.h"
#include "unwind/rows/exidx_program.h"
#include "unwind/rows/fde_rows.h"
#include "unwind/walk/frame_chain.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

py::dict rule_dict(const UnwindRow& row, const Architecture& arch) {
  py::dict rules;
  for (const NamedRule& named : row.rules) {
    const bool known =
        named.number < arch.registers.names.size() && !arch.registers.names[named.number].empty();
    const std::string name = named.number == row.return_address ? "ra"
                             : known ? std::string(arch.registers.names[named.number])
                                     : "r" + std::to_string(named.number);
    rules[text(name)] = to_string(named.rule, arch);
  }
  return rules;
}

py::list row_list(const std::vector<UnwindRow>& rows, const Architecture& arch) {
  py::list list;
  for (const UnwindRow& row : rows) {
    list.append(py::make_tuple(row.range.begin, to_string(row.cfa, arch), rule_dict(row, arch)));
  }
  return list;
}

// Entries of which no row can be made have none.
py::list exception_rows(const ElfFile& file, const Architecture& arch) {
  py::list entries;
  const Exidx* index = exception_index_of(file);
  for (std::size_t i = 0; index != nullptr && i < index->size(); ++i) {
    const ExidxEntry entry = index->at(i);
    const auto row = compile(entry, arch);
    entries.append(py::make_tuple(
        entry.range.begin, entry.range.end,
        row_list(row ? std::vector<UnwindRow>{*row} : std::vector<UnwindRow>(), arch)));
  }
  return entries;
}

py::list cfi_rows(const std::string& path, const std::string& section) {
  const auto file = ElfFile::open(path);
  const Architecture& arch = architecture_of(*file);
  if (section == ".ARM.exidx") {
    return exception_rows(*file, arch);
  }
  const CallFrameInfo* info =
      section == ".debug_frame" ? debug_frame_of(*file) : eh_frame_of(*file);
  py::list entries;
  if (info == nullptr) {
    return entries;
  }
  info->for_each([&](const Fde& fde) {
    entries.append(py::make_tuple(fde.range.begin, fde.range.end, row_list(compile(fde), arch)));
  });
  return entries;
}

std::vector<std::pair<Address, Address>> frame_chain(const std::string& arch_name,
                                                     const py::buffer& stack, Address stack_address,
                                                     const py::dict& registers) {
  const Architecture& arch = architecture_named(arch_name);
  const py::buffer_info info = stack.request();
  const auto bytes = bytes_of(info);
  const SegmentMemory memory({{stack_address, bytes}});
  std::vector<std::pair<Address, Address>> chain;
  for (const ChainLink& link : decode_frame_chain(arch, registers_from(registers, arch), memory)) {
    chain.emplace_back(link.pc, link.cfa);
  }
  return chain;
}

// What Python asks of an instruction set.
py::dict facts_of(const std::string& name) {
  const Architecture& arch = architecture_named(name);
  std::vector<std::string> general;
  for (const std::string_view each : arch.registers.names) {
    if (!each.empty()) {
      general.emplace_back(each);
    }
    if (each == arch.registers.names[arch.registers.pc]) {
      break;
    }
  }
  py::dict facts;
  facts["family"] = text(arch.family);
  facts["image_name"] = text(arch.abi.image_name);
  facts["calls_push"] = arch.frame.pushed_by_call != 0;
  facts["registers"] = general;
  facts["mode_bit"] = arch.registers.mode ? ~arch.code.pointer_mask : 0;
  return facts;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Architecture* arch : architectures()) {
    names.emplace_back(arch->name);
  }
  return names;
}

// Of all ABIs of a machine, each once.
std::vector<py::bytes> signal_trampolines(std::uint16_t machine) {
  std::set<std::string> codes;
  for (const Architecture* arch : architectures()) {
    if (arch->abi.elf_machine == machine) {
      for (const SignalTrampoline& each : arch->os.signal_trampolines) {
        codes.emplace(each.code.begin(), each.code.end());
      }
    }
  }
  return {codes.begin(), codes.end()};
}

}  // namespace

void bind_rows(py::module_& module) {
  module.def("cfi_rows", &cfi_rows, py::arg("path"), py::arg("section") = ".eh_frame");
  module.def("decode_frame_chain", &frame_chain, py::arg("arch"), py::arg("stack"),
             py::arg("stack_address"), py::arg("registers"));
  module.def(
      "load_bias",
      [](const std::string& path, const std::vector<Address>& addresses) -> std::optional<Address> {
        const auto file = ElfFile::open(path);
        const Architecture* arch = find_architecture(file->identity());
        return arch != nullptr ? load_bias(*file, *arch, addresses) : std::nullopt;
      },
      py::arg("path"), py::arg("return_addresses"));
  module.def("architectures", &architecture_names);
  module.def("architecture_facts", &facts_of, py::arg("name"));
  module.def("signal_trampolines", &signal_trampolines, py::arg("machine"));
  module.def(
      "architecture_of_elf",
      [](std::uint16_t machine, unsigned pointer_size, bool big_endian) {
        return name_or_none(find_architecture(
            ElfIdentity{machine, pointer_size, big_endian ? Endian::big : Endian::little}));
      },
      py::arg("machine"), py::arg("pointer_size"), py::arg("big_endian"));
  module.def(
      "architecture_of_gdb",
      [](const std::string& name, bool big_endian, unsigned pointer_size,
         unsigned register_size) -> py::object {
        return name_or_none(architecture_of_gdb(GdbTarget{
            name, big_endian ? Endian::big : Endian::little, pointer_size, register_size}));
      },
      py::arg("name"), py::arg("big_endian"), py::arg("pointer_size"), py::arg("register_size"));
}

}  // namespace whocall::python
