// SPDX-License-Identifier: Apache-2.0
// Published tables: configs/papers/<table>.json says which sweep of ours repeats which figures of a
// paper.
//
//   {"title": "A5", "source": "Paper, table 2; 3 seeds", "sweep": "../sweeps/groups-a5.json",
//    "rows": [{"label": "NC-SSM", "variant": "su2", "metric": "prefix", "length": 32,
//              "mean": 100, "std": 0, "n": 3,                  // figures as printed, if they are
//              "reach": 99.9}],                                // what each of our seeds should
//              reach
//    "remarks": ["What the paper leaves open, and what was chosen."]}
#pragma once

#include <filesystem>
#include <string>

#include "apps/report/analysis.h"

namespace lssm {

struct PaperFile {
  std::string path;
  std::string sweep;  // name of the sweep that makes our figures
  PaperTable table;   // without ours
};

// `name`: the path of such a file, or the name of one in configs/papers/ below the working folder.
PaperFile read_paper_file(const std::string& name);

// Puts our figures beside the published ones. A variant or length without runs leaves its row
// without ours, and says so in the row's words.
void compare_with_paper(PaperTable& table, const Results& results);

}  // namespace lssm
