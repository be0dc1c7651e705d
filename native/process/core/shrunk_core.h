// A core with what a walk needs of another one, and no more: kilobytes of megabytes.
#pragma once

#include <memory>
#include <string>
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
  void keep(AddressRange range) { kept_.push_back(range); }
  // Code is run there: the image of its module is needed, where that lies in memory alone. Of
  // others it is left out, as of the vDSO, which would be half of what is kept of small programs.
  void keep_code(Address pc) { code_.push_back(pc); }
  // A signal handler returns there, with this stack pointer: what of the interrupted registers is
  // the same always, flags and segments, shows that they are some.
  void keep_signal(Address sp) { signals_.push_back(sp); }

  // Writes the smaller core to the file that is open for writing. Registers and notes stay, but for
  // those of units other than the general one (floating point, vectors), which no walk reads.
  //
  // `is_private`: what the process could write is blank, but for words that point to code or into
  // frames that were kept, and for what was read to find its modules; so are registers, and the
  // arguments of its command line. Returns errno where writing failed; 0 else.
  int write(int file, const ProcessImage& image, bool is_private) const;

 private:
  [[nodiscard]] std::vector<CoreSegment> pieces(const ProcessImage& image) const;
  [[nodiscard]] std::vector<AddressRange> left_out(const ProcessImage& image) const;
  [[nodiscard]] JoinedRanges shown(const ProcessImage& image) const;

  CoreFile core_;
  std::shared_ptr<ReadWords> words_ = std::make_shared<ReadWords>();
  JoinedRanges opening_{{}};  // what was read to open it
  std::vector<AddressRange> kept_;
  std::vector<Address> code_;
  std::vector<Address> signals_;
};

}  // namespace whocall
