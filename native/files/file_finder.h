// Finds, on this machine, the file that a process had loaded on another one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/architecture.h"
#include "files/file_search.h"
#include "object/elf_file.h"

namespace whocall {

// What is known of the file that is looked for.
struct FileQuery {
  std::string path;                // as the process names it, without " (deleted)"
  std::string build_id;            // lower-case hex; empty when unknown
  std::vector<std::string> first;  // paths to try before all others
  std::vector<std::string> last;   // paths to try when all others have failed
  // Whether a file agrees with what lies in memory; asked where no build id can decide. Empty: any.
  std::function<bool(const ElfFile&)> fits;
  // Where in a file that is no ELF file itself the wanted one begins; 0: nowhere. `budget` pays.
  std::uint64_t offset = 0;
  Budget* budget = nullptr;
};

// A file that was there, but is not the one.
struct RejectedFile {
  std::string path;
  std::string build_id;
};

struct FoundFile {
  std::shared_ptr<const ElfFile> file;  // null when none was found
  std::string path;
  bool debug_only = false;  // holds symbols but neither code nor unwind tables
  std::vector<RejectedFile> rejected;
  std::string other_format;  // path of the first file that was there, but is no ELF file; or empty
  std::string remark;        // why debuginfod, if it was asked, did not help; a sentence
};

// Whether the file is what `objcopy --only-keep-debug` leaves: sections without their contents.
bool is_debug_only(const ElfFile& file);

class FileFinder {
 public:
  // `process_root` stands before paths that the process names ("/proc/1234/root"); empty for
  // cores and for processes that see the same files as we do. References must outlive the finder.
  FileFinder(const FileSearch& search, const Architecture& arch, std::string process_root);

  // Looks in this order: query.first; below the sysroot; the path itself, below the process's root
  // where it has one of its own; the user's directories, by name and then by build id; the debug
  // directories; query.last; debuginfod. A file of another build never ends the search. A debug
  // file does neither, but is taken when nothing better is found. A file that cannot be opened is
  // one that is not there; nothing but debuginfod's watch throws. Each path is opened once in the
  // finder's life, and no file is read beyond its headers and notes.
  FoundFile find(const FileQuery& query);

  // The file at `path`; null when it cannot be opened as ELF.
  std::shared_ptr<const ElfFile> open(const std::string& path);

 private:
  enum class Verdict { absent, rejected, debug_only, good };
  Verdict judge(const FileQuery& query, const ElfFile* file) const;
  std::vector<std::string> candidates(const FileQuery& query) const;
  std::shared_ptr<const ElfFile> embedded(const std::string& path, const FileQuery& query);
  bool try_path(const FileQuery& query, const std::string& path, FoundFile& result);
  bool try_by_build_id(const FileQuery& query, FoundFile& result);
  std::string path_by_build_id(const std::string& build_id);
  void fetch(const FileQuery& query, FoundFile& result);

  const FileSearch& search_;
  const Architecture& arch_;
  std::string process_root_;
  std::unordered_map<std::string, std::shared_ptr<const ElfFile>> opened_;  // null: cannot
  bool indexed_ = false;
  std::unordered_map<std::string, std::string> path_by_build_id_;
};

}  // namespace whocall
