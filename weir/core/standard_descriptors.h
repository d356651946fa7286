#pragma once

namespace weir {

/// Sees to it that the descriptors 0 to 2 are open. One that is closed would go to the next file that is opened, and what
/// the program prints into it. It is opened for reading only, so that what cannot be printed is an error of the write.
///   Threads  first thing in main, before any other thread.
///   Errors   ends the process, which could tell nobody.
void occupy_standard_descriptors();

}  // namespace weir
