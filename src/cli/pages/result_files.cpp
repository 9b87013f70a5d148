#include "cli/pages/result_files.hpp"

#include "cli/fail.hpp"
#include "pages/report/heat_picture.hpp"
#include "pages/report/json.hpp"
#include "pages/report/picture.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {

result_files::result_files(const pages_arguments& a)
    : asked_(a),
      json_(a.json == "-" ? "/dev/stdout" : a.json),
      picture_(a.picture),
      heat_map_(a.heat_map) {}

void result_files::write(const pages::observation& seen) {
  if (!asked_.json.empty()) {
    nlohmann::json report = pages::to_json(seen);
    report["origin"] = tool::origin();
    json_.write(tool::text_of(report, 1) + "\n", "observed");
  }
  if (asked_.picture.empty() && asked_.heat_map.empty()) return;
  if (seen.windows.empty()) {
    fail("no picture was drawn: the observation ended before its first window (--skip)");
  }
  picture_.write(pages::to_picture(seen), "observed");
  heat_map_.write(pages::to_heat_picture(seen), "observed");
}

}  // namespace isotherm::cli
