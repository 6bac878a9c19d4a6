# Writes OUTPUT: lssm::build_commit() for the checkout in SOURCE.
execute_process(
  COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude *
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "apps/experiment/machine.h"

namespace lssm {

std::string build_commit() { return "@commit@"; }

}  // namespace lssm
]])
