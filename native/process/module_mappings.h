// What the files of modules tell about mappings that the source leaves in the dark.
#pragma once

#include <span>

#include "process/process_image.h"
#include "process/told_modules.h"

namespace whocall {

// Where a core names a mapped file but not the protection, the protection is the segment's; where
// a dumper left out a mapping altogether, the segments of the module make one, or its place in
// `told`. Images whose source
// tells no mappings at all are left alone.
void complete_mappings(ProcessImage& image, std::span<const ToldModule> told);

}  // namespace whocall
