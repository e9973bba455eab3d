// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// All that the generated wrappers call before and after the library's functions.

#include "record/hooks/call.hpp"
#include "record/hooks/collectives.hpp"
#include "record/hooks/communicators.hpp"
#include "record/hooks/completion.hpp"
#include "record/hooks/messages.hpp"
#include "record/hooks/one_sided.hpp"
#include "record/hooks/process.hpp"
#include "record/hooks/status.hpp"
#include "record/hooks/waits.hpp"
