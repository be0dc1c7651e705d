// Source lines and inlined calls, by libdw, which is opened when the first line is asked for: a
// program that never asks needs none, and one on a machine without it has no lines.
#ifndef WHOCALL_SOURCE_LINES_HPP
#define WHOCALL_SOURCE_LINES_HPP

#include <dlfcn.h>
#include <fcntl.h>
#include <whocall.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <whocall/demangled.hpp>

namespace whocall {

struct source_place {
  std::string function;          // as the source calls it; empty where the debug info does not say
  std::string file;              // its path, where the compiler was told that
  std::uint_least32_t line = 0;  // 0: not known
};

namespace detail {

// What of libdw (elfutils 0.180 and later) is called, with its types as it lays them out.
class line_reader {
 public:
  static line_reader& of_program() {
    // It stays to the end: static objects may ask while they are destroyed.
    static line_reader* const reader = new line_reader;
    return *reader;
  }

  // Innermost first; empty where nothing tells, and where the file is not the one in memory any
  // more. Thread-safe.
  std::vector<source_place> lines_at(const whocall_frame& frame) {
    const std::lock_guard<std::mutex> lock(mutex_);
    void* module = is_open() && frame.module[0] != '\0' ? module_of(frame) : nullptr;
    return module == nullptr ? std::vector<source_place>() : lines_in(module, frame.offset);
  }

 private:
  struct die {  // Dwarf_Die
    void* address;
    void* unit;
    void* form;
    long padding;
  };
  struct attribute {  // Dwarf_Attribute
    unsigned code;
    unsigned form;
    void* value;
    void* unit;
  };
  struct callbacks {  // Dwfl_Callbacks
    void* find_elf;
    int (*find_debug_info)(void*, void**, const char*, std::uint64_t, const char*, const char*,
                           unsigned, char**);
    void* section_address;
    char** path;
  };

  static constexpr unsigned k_deepest = 64;  // blocks within blocks
  // DWARF's numbers.
  static constexpr unsigned k_class = 0x02;
  static constexpr unsigned k_block = 0x0b;
  static constexpr unsigned k_structure = 0x13;
  static constexpr unsigned k_namespace = 0x39;
  static constexpr unsigned k_subprogram = 0x2e;
  static constexpr unsigned k_inlined = 0x1d;
  static constexpr unsigned k_call_file = 0x58;
  static constexpr unsigned k_call_line = 0x59;

  line_reader() {
    library_ = ::dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library_ == nullptr) {
      return;
    }
    is_whole_ = find(begin_, "dwfl_begin") && find(report_, "dwfl_report_elf") &&
                find(report_end_, "dwfl_report_end") && find(unit_, "dwfl_module_addrdie") &&
                find(next_unit_, "dwfl_module_nextcu") && find(has_, "dwarf_haspc") &&
                find(line_, "dwarf_getsrc_die") && find(line_file_, "dwarf_linesrc") &&
                find(line_number_, "dwarf_lineno") && find(child_, "dwarf_child") &&
                find(sibling_, "dwarf_siblingof") && find(tag_, "dwarf_tag") &&
                find(text_, "dwarf_formstring") && find(build_id_, "dwfl_module_build_id") &&
                find(name_, "dwarf_diename") && find(files_, "dwarf_getsrcfiles") &&
                find(file_name_, "dwarf_filesrc") && find(value_, "dwarf_formudata") &&
                find(attribute_, "dwarf_attr_integrate");
    callbacks_.find_elf = ::dlsym(library_, "dwfl_build_id_find_elf");
    callbacks_.find_debug_info = find_local;
    is_whole_ = is_whole_ && callbacks_.find_elf != nullptr;
  }

  template <class Function>
  bool find(Function*& function, const char* name) {
    void* found = ::dlsym(library_, name);
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  }

  [[nodiscard]] bool is_open() const { return is_whole_; }

  // Null for a file that cannot be read, and for one of another build. Where a library was closed
  // and another one opened by the same path, each has its own.
  void* module_of(const whocall_frame& frame) {
    const auto known =
        modules_.emplace(std::pair(std::string(frame.module), build_id_of(frame)), nullptr);
    if (known.second) {
      const std::unique_ptr<char, void (*)(void*)> path(::realpath(frame.module, nullptr),
                                                        std::free);
      void* session = path == nullptr ? nullptr : begin_(&callbacks_);
      debug_file() = debug_file_of(frame);
      void* module =
          session == nullptr ? nullptr : report_(session, frame.module, path.get(), -1, 0, true);
      if (session != nullptr) {
        report_end_(session, nullptr, nullptr);
      }
      known.first->second = module != nullptr && is_of_build(module, frame) ? module : nullptr;
      if (module != nullptr) {
        std::uint64_t bias = 0;
        unit_(module, frame.offset, &bias);  // now, as the debug file is that of this one
      }
    }
    return known.first->second;
  }

  static std::string build_id_of(const whocall_frame& frame) {
    return frame.build_id == nullptr
               ? std::string()
               : std::string(reinterpret_cast<const char*>(frame.build_id), frame.build_id_size);
  }
  // What has a build id on one side alone is of two builds.
  bool is_of_build(void* module, const whocall_frame& frame) const {
    const unsigned char* bytes = nullptr;
    std::uint64_t address = 0;
    const int size = build_id_(module, &bytes, &address);
    const std::string of_file =
        size > 0 ? std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size))
                 : std::string();
    return of_file == build_id_of(frame);
  }

  // libdw's own search would ask debuginfod's servers: a stack trace asks nobody.
  static int find_local(void*, void**, const char*, std::uint64_t, const char*, const char*,
                        unsigned, char** name) {
    const int file = debug_file().empty() ? -1 : ::open(debug_file().c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      *name = ::strdup(debug_file().c_str());
    }
    return file;
  }
  // Of the module that is opened; under the mutex.
  static std::string& debug_file() {
    static std::string* const path = new std::string;
    return *path;
  }
  static std::string debug_file_of(const whocall_frame& frame) {
    if (frame.build_id == nullptr || frame.build_id_size < 2) {
      return {};
    }
    std::string path = "/usr/lib/debug/.build-id/";
    for (std::size_t at = 0; at < frame.build_id_size; ++at) {
      char text[4];
      std::snprintf(text, sizeof text, at == 0 ? "%02x/" : "%02x", frame.build_id[at]);
      path += text;
    }
    return path + ".debug";
  }

  std::vector<source_place> lines_in(void* module, std::uint64_t offset) {
    std::uint64_t bias = 0;
    die* unit = unit_at(module, offset, bias);
    if (unit == nullptr) {
      return {};
    }
    std::vector<die> functions;
    descend(*unit, offset - bias, 0, functions);
    source_place place = line_at(*unit, offset - bias);
    std::vector<source_place> found;
    for (auto each = functions.rbegin(); each != functions.rend(); ++each) {
      place.function = name_of(*each);
      found.push_back(place);
      place = call_of(*unit, *each);
    }
    if (found.empty() && !place.file.empty()) {
      found.push_back(place);
    }
    return found;
  }

  // Functions that cover the address, the outermost first: the one itself, and inlined ones.
  bool descend(die& scope, std::uint64_t offset, unsigned depth, std::vector<die>& functions) {
    die child = {};
    if (depth > k_deepest || child_(&scope, &child) != 0) {
      return false;
    }
    do {
      const auto tag = static_cast<unsigned>(tag_(&child));
      const bool is_function = tag == k_subprogram || tag == k_inlined;
      if ((is_function || tag == k_block) && has_(&child, offset) > 0) {
        if (is_function) {
          functions.push_back(child);
        }
        descend(child, offset, depth + 1, functions);
        return true;
      }
      const bool holds = tag == k_namespace || tag == k_class || tag == k_structure;
      if (holds && descend(child, offset, depth + 1, functions)) {
        return true;
      }
    } while (sibling_(&child, &child) == 0);
    return false;
  }

  // The compilation unit. Where the compiler writes no index of them (clang), each is asked.
  die* unit_at(void* module, std::uint64_t offset, std::uint64_t& bias) {
    if (die* unit = unit_(module, offset, &bias)) {
      return unit;
    }
    die* unit = next_unit_(module, nullptr, &bias);
    while (unit != nullptr && has_(unit, offset - bias) != 1) {
      unit = next_unit_(module, unit, &bias);
    }
    return unit;
  }

  source_place line_at(die& unit, std::uint64_t offset) {
    source_place place;
    if (void* line = line_(&unit, offset)) {
      int number = 0;
      place.file = path_of(unit, line_file_(line, nullptr, nullptr));
      place.line = line_number_(line, &number) == 0 && number > 0
                       ? static_cast<std::uint_least32_t>(number)
                       : 0;
    }
    return place;
  }

  // Of a file as the compiler calls it, which may be where the compiler ran.
  std::string path_of(die& unit, const char* file) {
    constexpr unsigned k_directory = 0x1b;
    attribute found = {};
    const bool is_told =
        file != nullptr && file[0] != '/' && attribute_(&unit, k_directory, &found) != nullptr;
    const char* directory = is_told ? text_(&found) : nullptr;
    const std::string name = file == nullptr ? "" : file;
    return directory == nullptr ? name : std::string(directory) + "/" + name;
  }

  std::string name_of(die& function) {
    constexpr unsigned k_linkage_name = 0x6e;
    attribute found = {};
    const char* mangled =
        attribute_(&function, k_linkage_name, &found) == nullptr ? nullptr : text_(&found);
    const char* plain = name_(&function);
    return mangled != nullptr ? demangled(mangled) : std::string(plain == nullptr ? "" : plain);
  }

  // Where the function that was inlined is called.
  source_place call_of(die& unit, die& inlined) {
    source_place place;
    place.line = static_cast<std::uint_least32_t>(number_of(inlined, k_call_line));
    void* files = nullptr;
    std::size_t count = 0;
    const std::uint64_t file = number_of(inlined, k_call_file);
    if (files_(&unit, &files, &count) == 0 && file < count) {
      place.file = path_of(unit, file_name_(files, file, nullptr, nullptr));
    }
    return place;
  }

  std::uint64_t number_of(die& of, unsigned code) {
    attribute found = {};
    std::uint64_t value = 0;
    const bool is_there = attribute_(&of, code, &found) != nullptr;
    return is_there && value_(&found, &value) == 0 ? value : 0;
  }

  std::mutex mutex_;
  void* library_ = nullptr;
  bool is_whole_ = false;
  callbacks callbacks_ = {};
  std::map<std::pair<std::string, std::string>, void*> modules_;  // by path and build id

  void* (*begin_)(const callbacks*) = nullptr;
  void* (*report_)(void*, const char*, const char*, int, std::uint64_t, bool) = nullptr;
  int (*report_end_)(void*, void*, void*) = nullptr;
  int (*build_id_)(void*, const unsigned char**, std::uint64_t*) = nullptr;
  die* (*unit_)(void*, std::uint64_t, std::uint64_t*) = nullptr;
  die* (*next_unit_)(void*, die*, std::uint64_t*) = nullptr;
  int (*has_)(die*, std::uint64_t) = nullptr;
  void* (*line_)(die*, std::uint64_t) = nullptr;
  const char* (*line_file_)(void*, std::uint64_t*, std::uint64_t*) = nullptr;
  int (*line_number_)(void*, int*) = nullptr;
  int (*child_)(die*, die*) = nullptr;
  int (*sibling_)(die*, die*) = nullptr;
  int (*tag_)(die*) = nullptr;
  const char* (*text_)(attribute*) = nullptr;
  const char* (*name_)(die*) = nullptr;
  int (*files_)(die*, void**, std::size_t*) = nullptr;
  const char* (*file_name_)(void*, std::size_t, std::uint64_t*, std::uint64_t*) = nullptr;
  int (*value_)(attribute*, std::uint64_t*) = nullptr;
  attribute* (*attribute_)(die*, unsigned, attribute*) = nullptr;
};

}  // namespace detail
}  // namespace whocall

#endif
