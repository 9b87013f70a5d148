// The native part of the Python package isotherm. isotherm/__init__.py says what its users may
// call.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <isotherm/index_map.hpp>
#include <isotherm/sort.hpp>
#include <isotherm/split.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <tuple>

#include "arrays.hpp"
#include "buffer.hpp"
#include "columns.hpp"
#include "device/probe.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "sums.hpp"
#include "watched_call.hpp"

namespace isotherm::python {
namespace nb = nanobind;
using namespace nb::literals;
namespace {

/// An index map with all that it needs to live. Its calls, which hold the GIL when they begin, must
/// not overlap: where another is running without the GIL, they fail.
class map_object {
 public:
  map_object(const std::string& path, const nb::dict& options, nb::object progress)
      : call_(std::move(progress)) {
    const sort_options o = watched(options);
    map_.emplace(call_.run<index_map>([&] { return index_map::build(path, o); }));
  }
  map_object(buffer input, const nb::dict& options, nb::object progress)
      : call_(std::move(progress)), input_(std::move(input)) {
    const sort_options o = watched(options);
    map_.emplace(call_.run<index_map>([&] { return index_map::over(input_.bytes(), o); }));
  }

  std::uint64_t size() const { return map_->size(); }
  void sort() {
    run([&] { return map_->sort(); });
  }
  void sort_first(std::uint64_t count) {
    run([&] { return map_->sort_first(count); });
  }
  nb::bytes key(std::uint64_t position) const {
    return to_bytes(value_of(idle().key(checked(position))));
  }
  nb::bytes record(std::uint64_t position) const {
    return to_bytes(value_of(idle().record(checked(position))));
  }
  std::pair<std::uint64_t, std::uint64_t> locate(std::uint64_t position) const {
    const auto place = value_of(idle().locate(checked(position)));
    return {place.offset, place.bytes};
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> groups() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    run([&] {
      return map_->for_each_group([&](index_map::group g) {
        all.emplace_back(g.first, g.count);
        return true;
      });
    });
    return all;
  }
  nb::bytes gather() {
    if (input_.data() == nullptr) throw failure{{"only a map over a buffer can be gathered", 0}};
    auto [made, room] = new_bytes(map_->record_bytes());
    run([&, room = room] { return map_->gather(room); });
    return made;
  }

 private:
  sort_options watched(const nb::dict& options) {
    sort_options o = options_of(options);
    call_.watch(o);
    return o;
  }
  const index_map& idle() const {
    if (busy_) throw failure{{"another thread uses this map: wait for it", EBUSY}};
    return *map_;
  }
  void run(const std::function<base::result<void>()>& work) {
    idle();
    busy_ = true;
    const auto ended = std::unique_ptr<bool, void (*)(bool*)>(&busy_, [](bool* b) { *b = false; });
    call_.run<void>(work);
  }
  std::uint64_t checked(std::uint64_t position) const {
    if (position >= map_->size()) {
      throw nb::index_error(
          fmt::format("the map has {} records, no record {}", map_->size(), position).c_str());
    }
    return position;
  }

  watched_call call_;
  buffer input_;
  std::optional<index_map> map_;
  bool busy_ = false;  // guarded by the GIL
};

/// A column with the buffers that it points into.
struct column_object {
  column description;
  buffer values, offsets, validity;
};

const std::byte* hold(buffer& in, const nb::object& object, std::uint64_t offset) {
  if (object.is_none()) return nullptr;
  in = buffer(object);
  return in.data() + offset;
}

void throw_in_python(const base::error& error) {
  const nb::object type = nb::module_::import_("isotherm._error").attr("Error");
  const nb::object made = type(error.message, error.code);
  PyErr_SetObject(type.ptr(), made.ptr());
}

void add_reports(nb::module_& m) {
  nb::class_<stage_report>(m, "Stage", "What a stage of a sort took. Stages may overlap.")
      .def_prop_ro("name", [](const stage_report& s) { return std::string(name(s.stage)); })
      .def_ro("seconds", &stage_report::seconds)
      .def_ro("bytes_read", &stage_report::bytes_read)
      .def_ro("bytes_written", &stage_report::bytes_written)
      .def_ro("device_share", &stage_report::device_share,
              "Share of the device's bandwidth for such accesses; 0: not known.")
      .def("__repr__", [](const stage_report& s) {
        return fmt::format("<Stage {}: {:.3f} s>", name(s.stage), s.seconds);
      });
  nb::class_<sort_report>(m, "Report", "What a sort did.")
      .def_ro("algorithm", &sort_report::algorithm)
      .def_ro("concurrency", &sort_report::concurrency)
      .def_ro("values", &sort_report::values, "How the values of records were read.")
      .def_ro("device", &sort_report::device, "'emu:...' if the device was emulated.")
      .def_ro("records", &sort_report::records, "Records of the input.")
      .def_ro("records_written", &sort_report::records_written)
      .def_ro("input_bytes", &sort_report::input_bytes)
      .def_ro("output_bytes", &sort_report::output_bytes)
      .def_ro("memory_limit_bytes", &sort_report::memory_limit_bytes)
      .def_ro("runs", &sort_report::runs, "Temporary runs written, over all levels.")
      .def_ro("seconds", &sort_report::seconds)
      .def_ro("predicted_seconds", &sort_report::predicted_seconds,
              "The cost model's prediction; 0: the device is not emulated.")
      .def_ro("stages", &sort_report::stages)
      .def("__repr__", [](const sort_report& r) {
        return fmt::format("<Report: {} records by {} in {:.3f} s>", r.records, r.algorithm,
                           r.seconds);
      });
  nb::class_<disorder>(m, "Disorder", "A record that should go before its predecessor.")
      .def_ro("number", &disorder::number, "Its number in the input, from 1.")
      .def_prop_ro("record", [](const disorder& d) { return to_bytes(d.record); })
      .def("__repr__", [](const disorder& d) { return fmt::format("<Disorder: {}>", d.number); });
  nb::class_<sort_prediction>(m, "Prediction", "The predicted time of one algorithm.")
      .def_prop_ro("algorithm",
                   [](const sort_prediction& p) { return std::string(name(p.algorithm)); })
      .def_prop_ro(
          "taken", [](const sort_prediction& p) { return std::string(name(p.taken)); },
          "The algorithm that would run.")
      .def_ro("seconds", &sort_prediction::seconds)
      .def_ro("obstacle", &sort_prediction::obstacle, "Why it cannot run here; empty: it can.")
      .def_ro("runs", &sort_prediction::runs, "Whether it would compress its runs, and why.")
      .def("__repr__", [](const sort_prediction& p) {
        return p.obstacle.empty()
                   ? fmt::format("<Prediction {}: {:.3f} s>", name(p.algorithm), p.seconds)
                   : fmt::format("<Prediction {}: {}>", name(p.algorithm), p.obstacle);
      });
}

void add_files(nb::module_& m) {
  m.def(
      "sort_files",
      [](const std::vector<std::string>& inputs, const std::string& output, const nb::dict& options,
         nb::object progress) {
        watched_call call(std::move(progress));
        sort_options o = options_of(options);
        call.watch(o);
        return call.run<sort_report>([&] { return sort_files(inputs, output, o); });
      },
      "inputs"_a, "output"_a, "options"_a, "progress"_a.none());
  m.def(
      "find_disorder",
      [](const std::string& input, const nb::dict& options) {
        watched_call call;
        sort_options o = options_of(options);
        call.watch(o);
        return call.run<std::optional<disorder>>([&] { return find_disorder(input, o); });
      },
      "input"_a, "options"_a);
  m.def(
      "explain",
      [](const std::string& input, const nb::dict& options) {
        watched_call call;
        sort_options o = options_of(options);
        call.watch(o);
        return call.run<std::vector<sort_prediction>>([&] { return explain_sort(input, o); });
      },
      "input"_a, "options"_a);
  m.def(
      "probe",
      [](const std::string& directory, const std::string& emulated, std::uint64_t file_bytes,
         double sample_seconds, nb::object progress) {
        watched_call call(std::move(progress));
        const device::probe_options o{
            .emulated = emulated,
            .file_bytes = file_bytes,
            .sample_seconds = sample_seconds,
            .progress = [&](std::string_view step) { call.report(std::string(step), 0, 0); }};
        return device::to_json(
            call.run<device::profile>([&] { return device::probe(directory, o); }));
      },
      "directory"_a, "emulated"_a, "file_bytes"_a, "sample_seconds"_a, "progress"_a.none(),
      "Returns the profile as JSON.");
  m.def("bytes_of", &bytes_of, "value"_a,
        "Returns the bytes that a number, or a text as '500mb', says.");
}

void add_splits(nb::module_& m) {
  nb::class_<split_part>(m, "SplitPart", "A file that a split has made.")
      .def_ro("path", &split_part::path)
      .def_ro("records", &split_part::records)
      .def_ro("bytes", &split_part::bytes, "The header included.");
  nb::class_<split_report>(m, "SplitReport", "What a split did.")
      .def_ro("records", &split_report::records)
      .def_ro("input_bytes", &split_report::input_bytes)
      .def_ro("seconds", &split_report::seconds)
      .def_ro("parts", &split_report::parts)
      .def("__repr__", [](const split_report& r) {
        return fmt::format("<SplitReport: {} records in {} parts in {:.3f} s>", r.records,
                           r.parts.size(), r.seconds);
      });
  m.def(
      "split_files",
      [](const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
         const std::string& boundaries, const std::pair<double, double>& place,
         const nb::dict& options, nb::object progress) {
        watched_call call(std::move(progress));
        sort_options o = options_of(options);
        call.watch(o);
        const split_request asked{.outputs = outputs,
                                  .boundaries = boundaries,
                                  .place_begin = place.first,
                                  .place_end = place.second};
        return call.run<split_report>([&] { return split_files(inputs, asked, o); });
      },
      "inputs"_a, "outputs"_a, "boundaries"_a, "place"_a, "options"_a, "progress"_a.none());
  m.def(
      "sample_files",
      [](const std::vector<std::string>& inputs, const std::string& output, std::uint64_t records,
         const nb::dict& options, nb::object progress) {
        watched_call call(std::move(progress));
        sort_options o = options_of(options);
        call.watch(o);
        return call.run<std::uint64_t>([&] { return sample_files(inputs, output, records, o); });
      },
      "inputs"_a, "output"_a, "records"_a, "options"_a, "progress"_a.none());
  m.def(
      "sum_records",
      [](const nb::object& data, const nb::dict& options) {
        const buffer in(data);
        watched_call call;
        sort_options o = options_of(options);
        call.watch(o);
        const auto sum = call.run<record_sum>([&] { return sum_records(in.bytes(), o); });
        return std::tuple(sum.records, static_cast<std::uint64_t>(sum.checksum >> 64),
                          static_cast<std::uint64_t>(sum.checksum));
      },
      "data"_a, "options"_a,
      "Returns the number of records, and the sum of their CRC-32: its higher and lower 64 bits.");
}

void add_map(nb::module_& m) {
  nb::class_<map_object>(
      m, "IndexMap",
      "The keys of a file or buffer, and where its records lie, in 16 bytes of memory a record.\n\n"
      "Records are named by their positions in the order of the map, at first the input's.")
      .def("__len__", &map_object::size)
      .def("sort", &map_object::sort, "Orders all records by key, equal keys as in the input.")
      .def("sort_first", &map_object::sort_first, "count"_a,
           "Orders the first `count` records so; the others follow in no order.")
      .def("key", &map_object::key, "position"_a, "Returns the key of the record at `position`.")
      .def("record", &map_object::record, "position"_a,
           "Returns the record at `position`, a line with its end.")
      .def("locate", &map_object::locate, "position"_a,
           "Returns offset and size in bytes of the record at `position` in the input.")
      .def("groups", &map_object::groups,
           "Returns (first position, count) for each run of equal keys.")
      .def("gather", &map_object::gather,
           "Returns all records in the map's order. Only of a map over a buffer.");
  m.def(
      "map_file",
      [](const std::string& path, const nb::dict& options, nb::object progress) {
        return new map_object(path, options, std::move(progress));
      },
      "path"_a, "options"_a, "progress"_a.none(), nb::rv_policy::take_ownership);
  m.def(
      "map_buffer",
      [](const nb::object& data, const nb::dict& options, nb::object progress) {
        return new map_object(buffer(data), options, std::move(progress));
      },
      "data"_a, "options"_a, "progress"_a.none(), nb::rv_policy::take_ownership);
}

void add_columns(nb::module_& m) {
  nb::enum_<number>(m, "Number")
      .value("natural", number::natural)
      .value("integer", number::integer)
      .value("time", number::time)
      .value("real", number::real);
  nb::enum_<storage>(m, "Storage")
      .value("natural", storage::natural)
      .value("integer", storage::integer)
      .value("time", storage::time)
      .value("real", storage::real)
      .value("decimal", storage::decimal)
      .value("bytes", storage::bytes)
      .value("text", storage::text);
  nb::class_<column_object>(m, "Column", "A key of rows: values in memory, and how they compare.")
      .def(
          "__init__",
          [](column_object* c, storage kind, unsigned width, std::uint64_t stride, bool descending,
             const nb::object& values, std::uint64_t values_offset, const nb::object& offsets,
             std::uint64_t offsets_offset, const nb::object& validity,
             std::uint64_t validity_offset) {
            new (c) column_object{};
            column& d = c->description;
            d = {.kind = kind, .width = width, .stride = stride, .descending = descending};
            d.values = hold(c->values, values, values_offset);
            d.offsets = hold(c->offsets, offsets, offsets_offset);
            d.validity = hold(c->validity, validity, 0);
            d.validity_offset = validity_offset;
          },
          nb::kw_only(), "kind"_a, "width"_a, "stride"_a, "descending"_a, "values"_a.none(),
          "values_offset"_a = 0, "offsets"_a.none() = nb::none(), "offsets_offset"_a = 0,
          "validity"_a.none() = nb::none(), "validity_offset"_a = 0);
}

void add_arrays(nb::module_& m) {
  m.def(
      "order_rows",
      [](const std::vector<const column_object*>& columns, std::uint64_t rows,
         const nb::dict& options, nb::object progress) {
        std::vector<column> all;
        for (const column_object* each : columns) all.push_back(each->description);
        watched_call call(std::move(progress));
        sort_options o = options_of(options);
        call.watch(o);
        auto [made, room] = new_bytes(rows * sizeof(std::uint64_t));
        const std::span order(reinterpret_cast<std::uint64_t*>(room.data()), rows);
        call.run<void>([&] { return order_rows(all, o, order); });
        return made;
      },
      "columns"_a, "rows"_a, "options"_a, "progress"_a.none(),
      "Returns the numbers of the rows in order, each of 8 bytes.");
  m.def(
      "sort_numbers",
      [](number kind, unsigned width, const nb::object& from, const nb::object& to) {
        const buffer in(from);
        const buffer out(to, buffer::access::write);
        watched_call().run<void>(
            [&] { return sort_numbers(kind, width, in.bytes(), out.writable()); });
      },
      "kind"_a, "width"_a, "source"_a, "target"_a);
  m.def(
      "take_records",
      [](const nb::object& from, std::uint64_t record_bytes, const nb::object& order,
         const nb::object& to) {
        const buffer in(from);
        const buffer numbers(order);
        const buffer out(to, buffer::access::write);
        const std::span by(reinterpret_cast<const std::uint64_t*>(numbers.data()),
                           numbers.size() / sizeof(std::uint64_t));
        watched_call().run<void>(
            [&] { return take_records(in.bytes(), record_bytes, by, out.writable()); });
      },
      "source"_a, "record_bytes"_a, "order"_a, "target"_a);
}

}  // namespace
}  // namespace isotherm::python

NB_MODULE(_native, m) {
  using namespace isotherm::python;
  m.doc() = "The native part of the package isotherm, for its own modules.";
  nanobind::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const failure& f) {
          throw_in_python(f.error);
        }
      },
      nullptr);
  add_reports(m);
  add_files(m);
  add_splits(m);
  add_map(m);
  add_columns(m);
  add_arrays(m);
}
