// A minidump, or a log with a microdump, that a core is made of.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "process/minidump/core_segments.h"
#include "process/minidump/minidump.h"

namespace whocall {

class MinidumpAsCore {
 public:
  // Reads it; messages call it by the file's path. Throws Error.
  explicit MinidumpAsCore(std::shared_ptr<const MappedFile> file);

  [[nodiscard]] const Minidump& dump() const { return dump_; }
  [[nodiscard]] const std::string& name() const { return file_->path(); }
  [[nodiscard]] bool is_microdump() const { return is_microdump_; }

  // Looks anew for the files of libraries that it knows by name alone (library_places.h).
  void place_libraries(const std::string& sysroot);
  // Takes the user's word for the program of a dump that lists no modules, as Crashpad finds none
  // in static programs. Where they run at the addresses that they are linked for, the file at `exe`
  // tells all that such a list would. Returns whether it was taken.
  bool take_program(const std::string& exe);
  // Says of the modules whose files are known, by an address in each, what of them was mapped
  // where, so that debuggers read code and data of files as they do of a core of the kernel's. What
  // the dump tells itself stays: its mappings and its auxiliary vector. To be done once.
  void add_files(const std::map<Address, std::string>& files);

  // Of the core that would be written now.
  [[nodiscard]] const std::vector<CoreSegment>& segments();
  // Of core_writer.h: errno, or 0.
  int write(int file);
  // The image that such a core would give, without one: its memory is the dump's. Throws Error.
  static std::unique_ptr<ProcessImage> open(const std::shared_ptr<MinidumpAsCore>& crash,
                                            const FileSearch& search);

 private:
  [[nodiscard]] ByteView memory() const;

  std::shared_ptr<const MappedFile> file_;
  Budget budget_;
  bool is_microdump_ = false;
  Minidump dump_;
  std::vector<ToldModule> told_modules_;  // before they were placed
  std::vector<std::byte> own_memory_;     // of a microdump
  std::optional<std::vector<CoreSegment>> segments_;
};

}  // namespace whocall
