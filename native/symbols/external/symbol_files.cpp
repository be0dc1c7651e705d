#include "symbols/external/symbol_files.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/text_lines.h"
#include "symbols/external/name_file.h"

namespace whocall {
namespace {

constexpr std::size_t kGuid = 32;  // hex digits

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "FILE[@BASE]"
SymbolFile parse_file(std::string_view given) {
  SymbolFile file;
  const std::size_t at = given.rfind('@');
  if (at != std::string_view::npos && !exists(std::string(given))) {
    std::string_view digits = given.substr(at + 1);
    const bool negative = digits.starts_with('-');
    digits.remove_prefix(negative ? 1 : 0);
    if (const auto base = hexadecimal(digits)) {
      file.base = {negative ? Address{0} - *base : *base, true};
      given = given.substr(0, at);
    }
  }
  file.path = given;
  return file;
}

// The path or whole last parts of it.
bool path_fits(std::string_view path, std::string_view wanted) {
  return path == wanted || (path.size() > wanted.size() && path.ends_with(wanted) &&
                            path[path.size() - wanted.size() - 1] == '/');
}

// "prog.map" is for prog, "libx.so.1.2.map" for libx.so.1 too.
bool is_called_like(std::string_view list, std::string_view module) {
  const std::string_view stem = base_name(list);
  const std::string_view name = base_name(module);
  if (name.empty() || !stem.starts_with(name)) {
    return false;
  }
  return stem.size() == name.size() || stem[name.size()] == '.';
}

bool looks_like_library(std::string_view list) {
  return base_name(list).find(".so.") != std::string_view::npos;
}

std::string sentence(const Error& error) {
  return error.path() + " " + error.reason() + "." +
         (error.remedy().empty() ? "" : " " + error.remedy() + ".");
}

void append(std::string& text, const std::string& sentence) {
  text += (text.empty() ? "" : " ") + sentence;
}

std::string objection_to_id(const ListedNames& list, const ElfFile& file, const std::string& path) {
  const std::string own = breakpad_id(file.build_id());
  if (list.debug_id.empty() || own.empty() ||
      list.debug_id.substr(0, kGuid) == own.substr(0, kGuid)) {
    return {};
  }
  return path + " is for the debug id " + list.debug_id + ", but " + file.path() + " has " + own +
         ": it lends no names. Give the list of the very build that ran.";
}

const Module* only(const std::vector<const Module*>& found) {
  return found.size() == 1 ? found.front() : nullptr;
}

// Chooses modules for lists.
class Assignment {
 public:
  explicit Assignment(const ProcessImage& process) : process_(process) {
    result_.by_module.resize(process.modules.size());
    for (const Module& module : process.modules) {
      ids_.push_back(breakpad_id(module.build_id()));
    }
  }

  void add(const std::string& given) {
    const SymbolFile file = parse_symbol_file(given);
    ListedNames head;
    try {
      head = examine_name_file(file.path);
    } catch (const Error& error) {
      result_.strays.push_back(sentence(error));
      return;
    }
    const Module* module = module_for(file, head);
    if (module == nullptr) {
      return;
    }
    if (module->file == nullptr && stands_in(*module, head)) {
      result_.stand_ins.push_back(
          {static_cast<std::size_t>(module - process_.modules.data()), file.path});
    }
    if (module->file == nullptr) {
      result_.strays.push_back(file.path + " lends no names, because the file of " + module->path +
                               " is not to be had.");
      return;
    }
    result_.by_module[static_cast<std::size_t>(module - process_.modules.data())].push_back(
        module->file->path() + "=" + given.substr(given.rfind(file.path)));
  }

  AssignedSymbolFiles take() { return std::move(result_); }

 private:
  // Whether the list may tell of a module's code that nobody has: it is of the same build.
  static bool stands_in(const Module& module, const ListedNames& head) {
    const std::string own = breakpad_id(module.build_id());
    return head.relative && (own.empty() || head.debug_id.empty() ||
                             own.substr(0, kGuid) == head.debug_id.substr(0, kGuid));
  }

  template <typename Test>
  std::vector<const Module*> modules_that(Test test) const {
    std::vector<const Module*> found;
    for (const Module& module : process_.modules) {
      if (test(module)) {
        found.push_back(&module);
      }
    }
    return found;
  }

  const Module* module_for(const SymbolFile& file, const ListedNames& head) {
    if (!file.module.empty()) {
      return named_by_user(file);
    }
    const auto wanted = std::string_view(head.debug_id).substr(0, kGuid);
    const auto same_build = [&](const Module& module) {
      const auto index = static_cast<std::size_t>(&module - process_.modules.data());
      return !wanted.empty() && std::string_view(ids_[index]).substr(0, kGuid) == wanted;
    };
    if (const Module* found = only(modules_that(same_build))) {
      return found;
    }
    const std::string& name = head.module_name.empty() ? file.path : head.module_name;
    auto called = modules_that([&](const Module& module) {
      return is_called_like(name, module.path) || is_called_like(name, module.file_path);
    });
    if (!called.empty()) {
      return called.front();
    }
    const auto program = modules_that([](const Module& module) { return module.is_executable; });
    if (program.empty() || looks_like_library(name) || !head.module_name.empty()) {
      result_.strays.push_back(file.path +
                               " is for no module of the process: it lends no names. Name the "
                               "module that it is for, as MODULE=" +
                               file.path + ".");
      return nullptr;
    }
    return program.front();
  }

  const Module* named_by_user(const SymbolFile& file) {
    const auto found = modules_that([&](const Module& module) {
      return path_fits(module.path, file.module) || path_fits(module.file_path, file.module);
    });
    if (found.empty()) {
      result_.strays.push_back("No module's path ends in " + file.module + ", so " + file.path +
                               " lends no names; whocall modules lists them.");
      return nullptr;
    }
    return found.front();
  }

  const ProcessImage& process_;
  std::vector<std::string> ids_;  // of the modules, as Breakpad writes them
  AssignedSymbolFiles result_;
};

}  // namespace

SymbolFile parse_symbol_file(const std::string& given) {
  if (exists(given)) {
    return {.path = given};
  }
  std::optional<SymbolFile> first;
  for (std::size_t at = given.find('='); at != std::string::npos; at = given.find('=', at + 1)) {
    SymbolFile file = parse_file(std::string_view(given).substr(at + 1));
    file.module = given.substr(0, at);
    if (exists(file.path)) {
      return file;
    }
    if (!first) {
      first = std::move(file);
    }
  }
  SymbolFile whole = parse_file(given);
  return !first || exists(whole.path) ? whole : *first;
}

std::string breakpad_id(std::string_view build_id) {
  if (build_id.empty()) {
    return {};
  }
  std::string digits(build_id.substr(0, kGuid));
  digits.resize(kGuid, '0');
  static constexpr std::size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string id;
  for (const std::size_t byte : kOrder) {
    for (const std::size_t digit : {2 * byte, 2 * byte + 1}) {
      id += static_cast<char>(std::toupper(static_cast<unsigned char>(digits[digit])));
    }
  }
  return id + "0";
}

SymbolLists symbol_lists_of(const ElfFile& file, const FileSearch& search) {
  SymbolLists result;
  std::unique_ptr<ListJudge> judge;
  for (const std::string& given : search.symbol_files) {
    const SymbolFile symbols = parse_symbol_file(given);
    if (!symbols.module.empty() && !path_fits(file.path(), symbols.module)) {
      continue;
    }
    try {
      ListedNames names = read_name_file(symbols.path);
      if (const auto objection = objection_to_id(names, file, symbols.path); !objection.empty()) {
        append(result.remark, objection);
        continue;
      }
      if (judge == nullptr) {
        judge = std::make_unique<ListJudge>(file);
      }
      FittedList fitted = judge->fit(std::move(names), symbols.base, symbols.path);
      if (fitted.list) {
        result.lists.push_back(std::move(*fitted.list));
      } else {
        append(result.remark, fitted.remark);
      }
    } catch (const Error& error) {
      append(result.remark, sentence(error));
    }
  }
  return result;
}

AssignedSymbolFiles assign_symbol_files(const ProcessImage& process) {
  Assignment assignment(process);
  for (const std::string& given : process.search.symbol_files) {
    assignment.add(given);
  }
  return assignment.take();
}

}  // namespace whocall
