// SPDX-License-Identifier: Apache-2.0
// Config files as people write them: comments, "extends", "set". What is left is a plain config.
#pragma once

#include <string>
#include <vector>

#include "core/config.h"

namespace lssm {

// Reads a config. `{"extends": "base.json", "train": {"steps": 50}, "set": {"model.layers.1.group":
// "so2"}}` is base.json (a path from the folder of the file) with these changes: objects are merged
// key by key unless their "type" changes, everything else is replaced; keys of "set" are dotted and
// come last. "$schema" is for editors, and dropped.
Json read_config(const std::string& path);

// The same for a config that stands as an object in the file `path`.
Json resolve_config(Json config, const std::string& path);

// A key in which two configs differ.
struct KeyDifference {
  std::string key;   // dotted, as in --set
  std::string a, b;  // the values as JSON; "" where a config does not have the key
};
// The smallest values that differ, in the order of the keys. Objects of different "type" differ as
// a whole.
std::vector<KeyDifference> config_differences(const Json& a, const Json& b);

}  // namespace lssm
