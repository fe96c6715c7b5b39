#include "gui/views/results_page.h"

#include <QFrame>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/views/memory_chart.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

// Lies over what is stale; lets the mouse through.
class Shade : public QWidget {
 public:
  explicit Shade(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
  }

  void setWords(const QString& words) {
    words_ = words;
    setAccessibleName(words);
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    QColor veil = palette().color(QPalette::Window);
    veil.setAlphaF(0.72F);
    painter.fillRect(rect(), veil);
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    const QRect words = painter.boundingRect(rect(), Qt::AlignCenter, words_);
    const QRect pill = words.adjusted(-14, -8, 14, 8);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(palette().color(QPalette::Base));
    painter.drawRoundedRect(pill, 6, 6);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(words, Qt::AlignCenter, words_);
  }

 private:
  QString words_{};
};

// The total stands out.
class BoldLastRow : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.row() == index.model()->rowCount() - 1) option->font.setBold(true);
  }
};

QLabel* make_label(bool bold) {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont font = label->font();
  font.setBold(bold);
  if (bold) font.setPointSizeF(font.pointSizeF() * 1.2);
  label->setFont(font);
  return label;
}

}  // namespace

ResultsPage::ResultsPage(QWidget* parent) : QWidget(parent), chart_(new MemoryChart) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(makeBanner());
  column->addWidget(chart_, 1);
  arena_ = make_label(false);
  arena_->setAccessibleName(tr("Arena"));
  column->addWidget(arena_);
  table_ = makeTable();
  column->addWidget(table_);
  notes_ = make_label(false);
  notes_->setForegroundRole(QPalette::PlaceholderText);
  notes_->setAccessibleName(tr("Notes"));
  column->addWidget(notes_);
  shade_ = new Shade(this);
  connect(chart_, &MemoryChart::partClicked, this, &ResultsPage::togglePart);
}

QWidget* ResultsPage::makeBanner() {
  banner_ = new QFrame;
  banner_->setObjectName(QStringLiteral("banner"));
  banner_->setAutoFillBackground(true);
  auto* column = new QVBoxLayout(banner_);
  column->setContentsMargins(12, 8, 12, 8);
  column->setSpacing(2);
  headline_ = make_label(true);
  headline_->setObjectName(QStringLiteral("headline"));
  headline_->setAccessibleName(tr("Verdict"));
  details_ = make_label(false);
  details_->setObjectName(QStringLiteral("details"));
  column->addWidget(headline_);
  column->addWidget(details_);
  return banner_;
}

QTableView* ResultsPage::makeTable() {
  auto* table = new QTableView;
  table->setObjectName(QStringLiteral("breakdown"));
  table->setAccessibleName(tr("Memory breakdown"));
  table->setModel(&breakdown_);
  table->setItemDelegate(new BoldLastRow(table));
  table->verticalHeader()->hide();
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 8);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table->horizontalHeader()->setHighlightSections(false);
  table->setAlternatingRowColors(true);
  table->setShowGrid(false);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setTabKeyNavigation(false);
  // Seven rows and the header, never a scroll bar.
  const int rows = 7 * table->verticalHeader()->defaultSectionSize();
  table->setFixedHeight(rows + table->horizontalHeader()->sizeHint().height() +
                        2 * table->frameWidth());
  return table;
}

void ResultsPage::setResult(std::shared_ptr<const RunResult> result) {
  showBanner(banner_of(*result));
  if (!result->plan) {
    // Nothing there yet to be stale.
    if (shown_ != nullptr) shade(tr("stale: of the last settings that could be used"), false);
    return;
  }
  shown_ = std::move(result);
  breakdown_.setResult(*shown_);
  showWords(*shown_);
  showChart();
  unshade();
}

void ResultsPage::setProblems(const Diagnostics& problems) {
  showBanner({.headline = tr("This file cannot be used"), .details = problem_words(problems)});
}

void ResultsPage::showWords(const RunResult& result) {
  arena_->setText(arena_words(*result.plan));
  const QString notes = note_words(*result.plan);
  notes_->setText(notes);
  notes_->setVisible(!notes.isEmpty());
}

void ResultsPage::setMeasured(std::optional<MeasuredCurve> curve) {
  measured_ = std::move(curve);
  showChart();
}

void ResultsPage::togglePart(const QString& key) {
  if (!hidden_.removeOne(key)) hidden_.push_back(key);
  showChart();
}

void ResultsPage::showChart() {
  if (measured_) {
    shapes_ = measured_shapes(*measured_);
    chart_->setDescription([curve = *measured_](double x) { return describe_step(curve, x); });
  } else if (shown_ != nullptr && shown_->simulation) {
    shapes_ = simulation_shapes(*shown_->simulation, hidden_);
    chart_->setDescription(
        [result = shown_](double x) { return describe_point(*result->simulation, x); });
  } else {
    shapes_ = {.title = tr("no curve: this could not be simulated")};
    chart_->setDescription({});
  }
  chart_->setShapes(shapes_);
  Q_EMIT shapesChanged();
}

void ResultsPage::showBanner(const Banner& banner) {
  mood_ = banner.mood;
  headline_->setText(banner.headline);
  details_->setText(banner.details);
  paintBanner();
}

void ResultsPage::paintBanner() {
  const BannerColors colors = mood_ == Mood::kGood  ? good_colors(palette())
                              : mood_ == Mood::kBad ? bad_colors(palette())
                                                    : problem_colors(palette());
  QPalette tinted = palette();
  tinted.setColor(QPalette::Window, colors.background);
  tinted.setColor(QPalette::WindowText, colors.text);
  banner_->setPalette(tinted);
}

void ResultsPage::setPending() {
  if (shown_ == nullptr) return;
  shade(tr("stale: computing"), true);
}

void ResultsPage::shade(const QString& words, bool with_banner) {
  shades_banner_ = with_banner;
  static_cast<Shade*>(shade_)->setWords(words);
  fitShade();
  shade_->raise();
  shade_->show();
}

void ResultsPage::unshade() { shade_->hide(); }

bool ResultsPage::isStale() const { return shade_->isVisibleTo(this); }

void ResultsPage::fitShade() {
  layout()->activate();
  const int top = shades_banner_ ? 0 : banner_->geometry().bottom() + 1;
  shade_->setGeometry(0, top, width(), height() - top);
}

void ResultsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitShade();
}

void ResultsPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && banner_ != nullptr) paintBanner();
}

}  // namespace tidemark
