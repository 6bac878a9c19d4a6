// SPDX-License-Identifier: Apache-2.0
#include "apps/report/html_style.h"

namespace lssm {

// Curves have the colours of Okabe and Ito; lighter ones in the dark, where the blue would drown.
const char* const kHtmlStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2024; --soft: #5b6570; --line: #d5dae0; --wash: #f4f6f8;
  --grid: #e3e7eb; --axis: #8a949e; --mark: #8a949e; --link: #0059a8;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b5558f; --c4: #d08700; --c5: #3f9fd8;
  --c6: #1c2024;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --ink: #e6e9ec; --soft: #9ba5af; --line: #363d44; --wash: #1d2226;
    --grid: #2a3036; --axis: #77818b; --mark: #8a949e; --link: #7cc0f5;
    --c0: #4aa8e0; --c1: #f27d2f; --c2: #2fc498; --c3: #df8cbd; --c4: #f0b03c; --c5: #8fd0f7;
    --c6: #e6e9ec;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 74rem;
  background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 {
  font-size: 1.35rem; line-height: 1.3; margin: 2.75rem 0 .75rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--line);
}
h3 { font-size: 1.08rem; margin: 1.75rem 0 .5rem; }
p, ul { margin: .5rem 0; max-width: 62rem; }
ul { padding-left: 1.3rem; }
li { overflow-wrap: anywhere; }
a { color: var(--link); }
nav { margin: .75rem 0 0; font-size: .9rem; }
nav a { margin-right: 1rem; white-space: nowrap; }
.lead { font-size: 1.05rem; }
.muted, .std { color: var(--soft); }
.note {
  margin: 1rem 0; padding: .6rem .9rem; background: var(--wash); border-left: 3px solid var(--axis);
}
.small { font-size: .87rem; color: var(--soft); }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.origin { list-style: none; padding-left: 0; }

.scroll { overflow-x: auto; margin: .75rem 0 1.5rem; }
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption {
  caption-side: top; text-align: left; font-weight: 600; padding: 0 0 .4rem; max-width: 62rem;
}
th, td { padding: .32rem .6rem; text-align: right; vertical-align: baseline; }
td { white-space: nowrap; }
thead th { border-bottom: 1.5px solid var(--axis); vertical-align: bottom; font-weight: 600; }
tbody { border-bottom: 1px solid var(--line); }
tbody th { font-weight: 500; text-align: left; }
tbody th.length { text-align: right; vertical-align: top; font-weight: 600; }
tbody th.variant { vertical-align: top; }
.overview th[scope=row] { min-width: 11rem; position: sticky; left: 0; background: var(--paper); }
th[scope=row] { max-width: 22rem; overflow-wrap: break-word; }
th.words, td.words, td.name { text-align: left; }
td.words { white-space: normal; min-width: 13rem; }
td.strong { font-weight: 650; }
tr.group th { padding-top: .8rem; font-weight: 600; background: var(--wash); }
tr.ceiling th, tr.ceiling td { color: var(--soft); font-style: italic; font-weight: 400; }
.tag {
  font-size: .82em; font-weight: 500; color: var(--soft); border: 1px solid var(--line);
  border-radius: .6rem; padding: 0 .4rem; white-space: nowrap;
}
.sign { display: inline-block; width: 1em; text-align: center; font-size: .8em; }
.better { color: var(--c2); }
.worse { color: var(--c1); }

.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem 2rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .9rem; margin-bottom: .3rem; }
figcaption span { color: var(--soft); }
svg.plot { display: block; width: 100%; max-width: 44rem; height: auto; color: var(--ink); overflow: visible; }
.legend {
  display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .3rem 0 0; padding: 0; list-style: none;
  font-size: .87rem;
}
.legend li { display: inline-flex; align-items: center; gap: .45rem; min-width: 0; }
.swatch { flex: none; width: 44px; height: 14px; overflow: visible; }

@media (max-width: 40rem) {
  body { padding: 1rem .9rem 2rem; font-size: 15px; }
  h1 { font-size: 1.5rem; }
  th, td { padding: .3rem .5rem; }
  .overview th[scope=row] { min-width: 6rem; }
  th[scope=row] { max-width: 12rem; }
}
@media print {
  @page { margin: 14mm; }
  html { font-size: 9pt; }
  body { padding: 0; max-width: none; font-size: 1rem; }
  nav { display: none; }
  h2, h3, h2 + .small, caption, figcaption { break-after: avoid; }
  figure, .scroll, tbody, tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  table { font-size: .84rem; width: 100%; }
  th, td { padding: .15rem .3rem; }
  td { white-space: normal; }
  td.words { min-width: 0; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1rem; }
  a { color: inherit; text-decoration: none; }
}
)css";

}  // namespace lssm
