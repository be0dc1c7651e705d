// A core with what a walk needs of another one, and no more: kilobytes of megabytes.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/joined_ranges.h"
#include "memory/recorded_memory.h"
#include "process/core/core_file.h"
#include "process/core/core_writer.h"

namespace whocall {

// What is needed is what was read: every question that the image answered before is answered the
// same way of the smaller core.
class ShrinkableCore {
 public:
  // Throws Error, as open_core() does.
  explicit ShrinkableCore(const std::string& path);

  // The process, whose memory is recorded as it is read. To be asked for once.
  std::unique_ptr<ProcessImage> open(const FileSearch& search);

  // Keeps memory that nobody read: the stack of a frame (runtime addresses).
  void keep(AddressRange range) { frames_.push_back(range); }
  // A frame stands there: the image of its module is needed, where that lies in memory alone. Of
  // others it is left out, as of the vDSO, which would be half of what is kept of small programs.
  void keep_code(Address pc) { code_.insert(pc); }
  // A signal handler returns there, with this stack pointer: what of the interrupted registers is
  // the same always, flags and segments, shows that they are some.
  void keep_signal(Address sp) { signals_.push_back(sp); }

  // Writes the smaller core to the file that is open for writing. Registers and notes stay, but for
  // those of units other than the general one (floating point, vectors), which no walk reads.
  //
  // `is_private`: what the process could write is blank, but for pointers to frames that were kept
  // and to where they stand, and for the list of its files; so are registers, the arguments of its
  // command line, and what a signal brought. Returns errno where writing failed; 0 else.
  int write(int file, const ProcessImage& image, bool is_private) const;

 private:
  [[nodiscard]] std::vector<CoreSegment> pieces(const ProcessImage& image) const;
  [[nodiscard]] std::vector<AddressRange> left_out(const ProcessImage& image) const;
  [[nodiscard]] JoinedRanges lists(const ProcessImage& image) const;

  CoreFile core_;
  std::shared_ptr<ReadWords> words_ = std::make_shared<ReadWords>();
  std::vector<AddressRange> lists_;  // of the dynamic linker, to the byte
  std::vector<AddressRange> heads_;  // of modules
  std::vector<AddressRange> frames_;
  std::unordered_set<Address> code_;
  std::vector<Address> signals_;
};

}  // namespace whocall
