// What the files of modules tell about mappings that the source leaves in the dark.
#pragma once

#include <optional>
#include <span>

#include "process/process_image.h"
#include "process/told_module.h"

namespace whocall {

// Where a core names a mapped file but not the protection, the protection is the segment's; where
// a dumper left out a mapping altogether, the segments of the module make one, or its place in
// `told`. Images whose source
// tells no mappings at all are left alone.
void complete_mappings(ProcessImage& image, std::span<const ToldModule> told);

// Gives the vDSO's mapping its name, as a live process's mappings say it, also where the core has
// left out what stands there.
void name_vdso(ProcessImage& image, std::optional<Address> vdso);

}  // namespace whocall
