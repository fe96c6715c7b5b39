#include "gui/models/measured_curve.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLatin1String>
#include <algorithm>
#include <array>

#include "planner/base/units.h"
#include "planner/report/escape.h"

namespace tidemark {
namespace {

constexpr size_t kMostProblems = 20;
constexpr int kColumns = 499;
constexpr int kMostTicks = 8;

QString text(const std::string& utf8) { return QString::fromStdString(utf8); }

class ReplayReader {
 public:
  explicit ReplayReader(std::string file) : file_(std::move(file)) {}

  Result<std::vector<MeasuredCurve>> read(const QByteArray& json) {
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError) {
      problem("", "is not JSON: " + error.errorString().toStdString() + " at byte " +
                      std::to_string(error.offset));
    } else if (!document.isObject()) {
      problem("", "holds no JSON object");
    } else {
      read_document(document.object());
    }
    if (has_errors(problems_)) return std::move(problems_);
    return std::move(curves_);
  }

 private:
  void problem(std::string path, std::string message, std::string hint = "") {
    if (problems_.size() >= kMostProblems) return;
    problems_.push_back({.where = {.file = file_},
                         .path = std::move(path),
                         .message = std::move(message),
                         .hint = std::move(hint)});
  }

  void read_document(const QJsonObject& document) {
    const QString schema = document[QLatin1String("schema")].toString();
    if (!schema.startsWith(QLatin1String("tidemark.replay/"))) {
      problem("schema", "is " + in_quotes(schema.toStdString()) + ", not that of a replay",
              "write the file with `tidemark replay ... --json -o FILE`");
      return;
    }
    const QJsonValue results = document[QLatin1String("results")];
    if (!results.isArray()) return read_run(document, "");
    for (qsizetype i = 0; i < results.toArray().size(); ++i) {
      const std::string path = "results[" + std::to_string(i) + "].";
      read_run(results.toArray()[i].toObject(), path);
    }
    if (results.toArray().isEmpty()) problem("results", "is empty");
  }

  void read_run(const QJsonObject& run, const std::string& path) {
    MeasuredCurve curve;
    curve.model = run[QLatin1String("model")][QLatin1String("name")].toString().toStdString();
    curve.strategy = setting_of(run, "strategy");
    curve.model_scale = setting_of(run, "model_scale");
    curve.predicted_peak = bytes(run, "predicted_peak_bytes", path);
    curve.measured_peak = bytes(run, "measured_peak_bytes", path);
    curve.relative_error = run[QLatin1String("relative_error")].toDouble();
    curve.outputs_match = run[QLatin1String("outputs_match")].toBool(true);
    const QJsonValue steps = run[QLatin1String("steps")];
    if (!steps.isArray() || steps.toArray().isEmpty()) {
      problem(path + "steps", "must be a list with at least one step");
      return;
    }
    const QJsonArray list = steps.toArray();
    for (qsizetype i = 0; i < list.size() && problems_.size() < kMostProblems; ++i) {
      read_step(curve, list[i].toObject(), path + "steps[" + std::to_string(i) + "].");
    }
    curves_.push_back(std::move(curve));
  }

  void read_step(MeasuredCurve& curve, const QJsonObject& step, const std::string& path) {
    const int64_t number = integer(step, "step", path);
    if (!curve.steps.empty() && number <= curve.steps.back().step) {
      problem(path + "step", "does not come after " + std::to_string(curve.steps.back().step));
    }
    curve.steps.push_back({.step = number,
                           .predicted = bytes(step, "predicted_bytes", path),
                           .measured = bytes(step, "measured_bytes", path)});
  }

  // From the settings; the strategy stands in the document itself as well.
  static std::string setting_of(const QJsonObject& run, const char* key) {
    const QJsonValue stated = run[QLatin1String(key)];
    if (stated.isString()) return stated.toString().toStdString();
    const QJsonValue setting = run[QLatin1String("settings")][QLatin1String(key)];
    return setting[QLatin1String("value")].toString().toStdString();
  }

  int64_t integer(const QJsonObject& object, const char* key, const std::string& path) {
    const QJsonValue value = object[QLatin1String(key)];
    const qint64 number = value.toInteger(-1);
    constexpr qint64 kMost = qint64{1} << 60;
    if (number >= 0 && number <= kMost) return number;
    problem(path + key, "must be a whole number, not negative");
    return 0;
  }

  Bytes bytes(const QJsonObject& object, const char* key, const std::string& path) {
    return Bytes::of(integer(object, key, path));
  }

  std::string file_;
  Diagnostics problems_{};
  std::vector<MeasuredCurve> curves_{};
};

// One line of the replay, bounded in length.
QList<QPointF> line_of(const MeasuredCurve& curve, Bytes MeasuredStep::*what) {
  std::vector<int64_t> steps;
  std::vector<int64_t> values;
  for (const MeasuredStep& step : curve.steps) {
    steps.push_back(step.step);
    values.push_back((step.*what).count());
  }
  std::vector<QPointF> points;
  for (const size_t index : points_to_keep(steps, values, kColumns)) {
    points.emplace_back(static_cast<double>(steps[index]), static_cast<double>(values[index]));
  }
  return step_corners(points, static_cast<double>(curve.steps.back().step + 1));
}

// Steps of 1, 2 or 5 times a power of ten.
void set_step_axis(ChartShapes& shapes, int64_t end) {
  shapes.x_label = QStringLiteral("step of the replay");
  shapes.right = static_cast<double>(std::max<int64_t>(end, 1));
  int64_t step = 1;
  for (int64_t power = 1; end / step > kMostTicks; power *= 10) {
    for (const int64_t factor : std::array<int64_t, 3>{1, 2, 5}) {
      step = power * factor;
      if (end / step <= kMostTicks) break;
    }
  }
  for (int64_t at = 0; at <= end; at += step) {
    shapes.x_ticks.push_back({static_cast<double>(at), text(format_count(at))});
  }
}

QString signed_percent(double ratio) {
  const QString number = QString::number(ratio * 100.0, 'f', 2);
  return (ratio < 0 ? QString() : QStringLiteral("+")) + number + QStringLiteral(" %");
}

}  // namespace

Result<std::vector<MeasuredCurve>> parse_replay(const std::string& file, const QByteArray& json) {
  return ReplayReader(file).read(json);
}

ChartShapes measured_shapes(const MeasuredCurve& curve) {
  ChartShapes shapes;
  const bool is_scaled = !curve.model_scale.empty() && curve.model_scale != "1";
  shapes.title = text("replay of " + one_line(curve.model) +
                      (is_scaled ? " scaled by " + one_line(curve.model_scale) : "") +
                      (curve.strategy.empty() ? "" : ", " + one_line(curve.strategy)) +
                      ": measured peak " + format_bytes(curve.measured_peak) + ", predicted " +
                      format_bytes(curve.predicted_peak) + ", ") +
                 signed_percent(curve.relative_error) +
                 (curve.outputs_match ? QString() : QStringLiteral(", OUTPUTS DIFFER"));
  set_step_axis(shapes, curve.steps.back().step + 1);
  shapes.y_label = QStringLiteral("resident memory");
  CurveBand band{.key = QStringLiteral("predicted"), .label = QStringLiteral("predicted")};
  band.upper = line_of(curve, &MeasuredStep::predicted);
  for (const QPointF& corner : band.upper) band.lower.push_back({corner.x(), 0});
  shapes.bands.push_back(std::move(band));
  shapes.measured = line_of(curve, &MeasuredStep::measured);
  shapes.measured_label = QStringLiteral("measured");
  const auto highest = std::max_element(
      curve.steps.begin(), curve.steps.end(),
      [](const MeasuredStep& a, const MeasuredStep& b) { return a.measured < b.measured; });
  Bytes top = std::max(highest->measured, curve.predicted_peak);
  for (const MeasuredStep& step : curve.steps) top = std::max(top, step.predicted);
  set_byte_axis(shapes, top);
  shapes.peak = {
      {static_cast<double>(highest->step), static_cast<double>(highest->measured.count())},
      text("measured peak " + format_bytes(highest->measured))};
  return shapes;
}

QString describe_step(const MeasuredCurve& curve, double step) {
  const auto after = std::upper_bound(curve.steps.begin(), curve.steps.end(), step,
                                      [](double at, const MeasuredStep& candidate) {
                                        return at < static_cast<double>(candidate.step);
                                      });
  const bool within = step <= static_cast<double>(curve.steps.back().step + 1);
  if (after == curve.steps.begin() || !within) return {};
  const MeasuredStep& here = *(after - 1);
  return text("step " + format_count(here.step) + "\npredicted  " +
              format_bytes_exact(here.predicted) + "\nmeasured  " +
              format_bytes_exact(here.measured) + "\ndifference  " +
              format_signed_bytes(here.measured - here.predicted));
}

}  // namespace tidemark
