// Opening processes, and the questions that can be asked of one.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "arch/system_call_abi.h"
#include "memory/callback_memory.h"
#include "process/core/core_file.h"
#include "process/live/inferior.h"
#include "process/live/live_process.h"
#include "process/live/told_crash.h"
#include "process/modules/loaded_files.h"
#include "python/bind_functions.h"
#include "python/bind_image_parts.h"
#include "python/bind_places.h"
#include "python/bind_symbols.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "symbols/coverage.h"
#include "symbols/external/stand_in_file.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

struct ModuleReport {
  std::map<std::string, std::size_t> symbol_sources;
  std::string remark;
  std::string debug_file;
  std::uint64_t code_bytes = 0;
  std::uint64_t cfi_bytes = 0;
  bool has_debug_info = false;
};

void tell_names(FileSymbols& names, ModuleReport& result) {
  for (const Symbol& symbol : names.table()->symbols()) {
    ++result.symbol_sources[std::string(to_string(symbol.source))];
  }
  result.remark = names.remark();
  result.debug_file = names.debug_file();
}

const Module& module_at_index(const Session& session, std::size_t index) {
  if (index >= session.image->modules.size()) {
    throw py::index_error("there is no module with this index");
  }
  return session.image->modules[index];
}

// Without `fetch` debuginfod is not asked for a module that nobody has looked into.
ModuleReport report(const Process& process, std::size_t index, bool fetch) {
  Session& session = *process.session();
  const Module& module = module_at_index(session, index);
  ModuleReport result;
  if (module.file == nullptr) {
    return result;
  }
  FileSymbols& names = *session.symbolizer->symbols_of(module);
  if (fetch || names.is_open() || session.image->search.debuginfod == nullptr) {
    tell_names(names, result);
  } else {
    FileSearch search = session.image->search;
    search.debuginfod = nullptr;
    FileSymbols on_disk(module.file, search);
    tell_names(on_disk, result);
  }
  const CodeCoverage coverage = measure_coverage(*module.file);
  result.code_bytes = coverage.code_bytes;
  result.cfi_bytes = coverage.cfi_bytes;
  result.has_debug_info = module.file->section(".debug_info") != nullptr;
  return result;
}

TableView symbols_of(const Process& process, std::size_t index) {
  Session& session = *process.session();
  const Module& module = module_at_index(session, index);
  FileSymbols* names = session.symbolizer->symbols_of(module);
  auto table = names != nullptr ? names->table() : SymbolTable::from_symbols(SymbolList());
  return {.table = std::move(table), .path = module.file_path, .build_id = module.build_id_on_disk};
}

FunctionListView functions_of(const Process& process, std::size_t index) {
  Session& session = *process.session();
  const Module& module = module_at_index(session, index);
  if (module.file == nullptr) {
    return {};
  }
  return list_functions(*session.symbolizer->symbols_of(module));
}

py::bytes read(const Process& process, Address address, std::size_t size) {
  // No allocation beyond what can be read, whatever size a caller asks for.
  std::string bytes;
  while (bytes.size() < size) {
    const auto run = process.image().memory->run_at(address + bytes.size());
    if (run.empty()) {
      break;
    }
    const std::size_t part = std::min(run.size(), size - bytes.size());
    bytes.append(reinterpret_cast<const char*>(run.data()), part);
  }
  return bytes;
}

using ThreadTuple = std::tuple<unsigned, std::int64_t, std::string, int, py::dict>;
using SignalTuple = std::tuple<int, Address, std::uint32_t>;
using MappingTuple = std::tuple<Address, Address, std::string, std::uint64_t, std::string>;
using FileTuple = std::tuple<std::string, Address, bool>;

InferiorSnapshot make_snapshot(const Architecture& arch, std::int64_t pid,
                               const std::vector<ThreadTuple>& threads,
                               const std::vector<MappingTuple>& mappings,
                               const std::vector<FileTuple>& files) {
  InferiorSnapshot snapshot;
  snapshot.arch = arch.name;
  snapshot.pid = pid;
  for (const auto& [number, lwp, name, signal, registers] : threads) {
    Thread& thread = snapshot.threads.emplace_back();
    thread.number = number;
    thread.lwp = lwp;
    thread.name = name;
    thread.signal = signal;
    thread.registers = registers_from(registers, arch);
    if (const SystemCallAbi* abi = system_call_abi(arch); abi != nullptr && abi->kept_size != 0) {
      const py::str kept(abi->kept_name.data(), abi->kept_name.size());
      if (registers.contains(kept)) {
        thread.registers.set(abi->kept, registers[kept].cast<std::uint64_t>());
      }
    }
  }
  for (const auto& [begin, end, permissions, offset, path] : mappings) {
    const std::string_view granted = permissions;
    const auto allows = [granted](char letter) {
      return granted.find(letter) != std::string_view::npos;
    };
    snapshot.mappings.push_back(
        {{begin, end}, allows('r'), allows('w'), allows('x'), offset, path});
  }
  for (const auto& [path, bias, is_executable] : files) {
    snapshot.files.push_back({path, bias, is_executable});
  }
  return snapshot;
}

CallbackMemory::Reader reader_of(const py::function& read_memory) {
  return [read_memory](Address address, std::size_t size) {
    const std::string bytes = read_memory(address, size).cast<py::bytes>();
    std::vector<std::byte> out(std::min(bytes.size(), size));
    std::memcpy(out.data(), bytes.data(), out.size());
    return out;
  };
}

std::vector<std::tuple<py::str, Address, bool>> files_of_program(
    const std::string& arch_name, const std::map<std::uint64_t, std::uint64_t>& auxiliary,
    const py::function& read_memory, const std::string& program) {
  AuxiliaryVector vector;
  for (const auto& [type, value] : auxiliary) {
    vector.set(type, value);
  }
  const CallbackMemory memory(reader_of(read_memory));
  std::vector<std::tuple<py::str, Address, bool>> files;
  for (const auto& file : loaded_files(memory, vector, architecture_named(arch_name), program)) {
    files.emplace_back(text(file.path), file.bias, file.is_executable);
  }
  return files;
}

Process opened(std::unique_ptr<ProcessImage> image) {
  lend_stand_ins(*image);
  return Process(std::move(image));
}

Process open_from_gdb(const std::string& arch_name, std::int64_t pid,
                      const std::vector<ThreadTuple>& threads,
                      const std::vector<MappingTuple>& mappings,
                      const std::vector<FileTuple>& files, std::optional<Address> vdso,
                      const py::function& read_memory, const FileSearch& search, bool is_local,
                      std::uint64_t signature_bits,
                      const std::map<unsigned, SignalTuple>& signal_info) {
  InferiorSnapshot snapshot =
      make_snapshot(architecture_named(arch_name), pid, threads, mappings, files);
  for (Thread& thread : snapshot.threads) {
    if (const auto told = signal_info.find(thread.number); told != signal_info.end()) {
      const auto& [code, address, sender] = told->second;
      thread.signal_info = {.code = code, .address = address, .pid = sender};
    }
  }
  snapshot.vdso = vdso;
  snapshot.is_local = is_local;
  snapshot.signature_bits = signature_bits;
  snapshot.read_memory = reader_of(read_memory);
  return opened(open_inferior(std::move(snapshot), search));
}

using ToldSignal =
    std::tuple<std::optional<int>, std::optional<Address>, std::optional<std::uint32_t>>;
using CrashTuple = std::tuple<std::int64_t, py::dict, int, ToldSignal>;

Process open_live(std::int64_t pid, const FileSearch& search,
                  const std::optional<CrashTuple>& crash) {
  auto image = open_process(pid, search);
  if (crash) {
    const auto& [lwp, registers, signal, info] = *crash;
    const auto& [code, address, sender] = info;
    put_where_it_crashed({.lwp = lwp,
                          .registers = registers_from(registers, *image->arch),
                          .signal = signal,
                          .info = {.code = code, .address = address, .pid = sender}},
                         *image);
  }
  return opened(std::move(image));
}

void bind_openers(py::module_& module) {
  module.def(
      "open_core",
      [](const std::string& path, const FileSearch& search) {
        return opened(open_core(path, search));
      },
      py::arg("path"), py::arg("search") = FileSearch());
  module.def("open_process", &open_live, py::arg("pid"), py::arg("search") = FileSearch(),
             py::arg("crash") = std::nullopt);
  module.def("loaded_files", &files_of_program, py::arg("arch"), py::arg("auxiliary"),
             py::arg("read_memory"), py::arg("program"));
  module.def("open_inferior", &open_from_gdb, py::arg("arch"), py::arg("pid"), py::arg("threads"),
             py::arg("mappings"), py::arg("files"), py::arg("vdso"), py::arg("read_memory"),
             py::arg("search") = FileSearch(), py::arg("is_local") = false,
             py::arg("signature_bits") = 0,
             py::arg("signal_info") = std::map<unsigned, SignalTuple>());
}

}  // namespace

void bind_process(py::module_& module) {
  py::class_<ModuleReport>(module, "ModuleReport")
      .def_readonly("symbol_sources", &ModuleReport::symbol_sources)
      .def_property_readonly("remark", [](const ModuleReport& made) { return text(made.remark); })
      .def_property_readonly("debug_file",
                             [](const ModuleReport& made) { return text(made.debug_file); })
      .def_readonly("code_bytes", &ModuleReport::code_bytes)
      .def_readonly("cfi_bytes", &ModuleReport::cfi_bytes)
      .def_readonly("has_debug_info", &ModuleReport::has_debug_info);
  py::class_<Process> process_class(module, "Process");
  process_class
      .def_property_readonly("arch",
                             [](const Process& process) { return process.image().arch->name; })
      .def_property_readonly(
          "pointer_size",
          [](const Process& process) { return process.image().arch->abi.pointer_size; })
      .def_property_readonly(
          "word_size", [](const Process& process) { return process.image().arch->registers.size; })
      .def_property_readonly("byte_order",
                             [](const Process& process) {
                               return process.image().arch->abi.endian == Endian::big ? "big"
                                                                                      : "little";
                             })
      .def_property_readonly("pc_name",
                             [](const Process& process) {
                               const Architecture& arch = *process.image().arch;
                               return arch.registers.names[arch.registers.pc];
                             })
      .def_property_readonly("sp_name",
                             [](const Process& process) {
                               const Architecture& arch = *process.image().arch;
                               return arch.registers.names[arch.registers.sp];
                             })
      .def_property_readonly("core_path",
                             [](const Process& process) { return text(process.image().core_path); })
      .def_property_readonly("exe_path",
                             [](const Process& process) { return text(process.image().exe_path); })
      .def_property_readonly("pid", [](const Process& process) { return process.image().pid; })
      .def_property_readonly(
          "warnings", [](const Process& process) { return text_list(process.image().warnings); })
      .def_property_readonly("name_warnings",
                             [](const Process& process) {
                               return text_list(process.session()->symbolizer->warnings());
                             })
      .def_property_readonly("threads",
                             [](const Process& process) { return threads_of(process.session()); })
      .def_property_readonly("modules",
                             [](const Process& process) { return modules_of(process.session()); })
      .def_property_readonly("partial_map",
                             [](const Process& process) { return process.image().partial_map; })
      .def_property_readonly("mappings",
                             [](const Process& process) { return process.image().mappings; })
      .def("describe", &describe, py::arg("address"), py::arg("demangle") = true,
           py::arg("lines") = true, py::arg("refused") = true)
      .def("report", &report, py::arg("module"), py::arg("fetch") = false)
      .def("symbols", &symbols_of, py::arg("module"))
      .def("functions", &functions_of, py::arg("module"))
      .def("jit_functions",
           [](const Process& process) {
             return list_jit_functions(process.image(), *process.session()->symbolizer);
           })
      .def("jit_objects", [](const Process& process) { return list_jit_objects(process.image()); })
      .def("read", &read, py::arg("address"), py::arg("size"))
      .def("close", &Process::close);
  bind_symfile(process_class, module);
  bind_listing(process_class);
  bind_report(process_class, module);
  bind_scene(process_class, module);
  bind_waits(process_class);
  bind_openers(module);
}

}  // namespace whocall::python
