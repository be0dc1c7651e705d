// Where exceptions enter functions in the middle, by the exception tables of all modules.
#pragma once

#include <memory>
#include <vector>

#include "base/address.h"
#include "object/lsda.h"
#include "process/process_image.h"

namespace whocall {

// Only the unwinder of the runtime jumps to a landing pad, and it reads the tables to find it:
// where there are no tables, no landing pad ever runs. All addresses are runtime addresses.
class LandingPads {
 public:
  // The process must outlive the object.
  explicit LandingPads(const ProcessImage& process);
  LandingPads(const LandingPads&) = delete;
  LandingPads& operator=(const LandingPads&) = delete;
  ~LandingPads();

  // The pads that catch what the calls of the function at `start` throw.
  std::vector<LandingPad> of_function(Address start);
  // The functions whose exceptions land in `range`; theirs may be another part of the same one.
  std::vector<AddressRange> functions_landing_in(const AddressRange& range);

 private:
  struct ModulePads;
  ModulePads* pads_of(Address runtime);

  const ProcessImage& process_;
  std::vector<std::unique_ptr<ModulePads>> modules_;  // by index in process_.modules
};

}  // namespace whocall
