// Files that stand in for those of modules that are not to be had, made of Breakpad's symbol files:
// where the code is, and unwind rows. Names and lines come from the lists as for any file.
#pragma once

#include "process/process_image.h"

namespace whocall {

// Gives such files to the modules without one that search.symbol_files has lists with rows for, or
// a store of Breakpad's in one of search.directories. A list that is of another build than the
// module lends none.
void lend_stand_ins(ProcessImage& process);

}  // namespace whocall
