#include "gui/views/results_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QHeaderView>
#include <QIcon>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/views/memory_chart.h"
#include "gui/views/theme.h"

namespace tidemark {
namespace {

constexpr int kMostUnmarked = 150;  // milliseconds

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

// The total stands out; a part has the colour that it has in the curve.
class BreakdownDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.row() == index.model()->rowCount() - 1) option->font.setBold(true);
    if (index.column() != BreakdownModel::kPart) return;
    const QString key = index.data(BreakdownModel::kKeyRole).toString();
    constexpr int kSide = 10;
    QPixmap square(kSide, kSide);
    square.fill(key.isEmpty() ? QColor(Qt::transparent) : color_of_part(key, option->palette));
    option->icon = QIcon(square);
    option->decorationSize = {kSide, kSide};
    option->features |= QStyleOptionViewItem::HasDecoration;
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
  until_shade_ = new QTimer(this);
  until_shade_->setSingleShot(true);
  until_shade_->setInterval(kMostUnmarked);
  connect(until_shade_, &QTimer::timeout, this, [this] {
    shade_->raise();
    shade_->show();
  });
  banner_->installEventFilter(this);
  showChart();
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
  table->setItemDelegate(new BreakdownDelegate(table));
  table->verticalHeader()->hide();
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 8);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  // The bytes are never cut off: half a number is another number.
  for (const int whole : {BreakdownModel::kPart, BreakdownModel::kBytes}) {
    table->horizontalHeader()->setSectionResizeMode(whole, QHeaderView::ResizeToContents);
  }
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
  auto* copy = new QAction(tr("Copy &rows"), table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  connect(copy, &QAction::triggered, this, &ResultsPage::copyRows);
  table->addAction(copy);
  table->setContextMenuPolicy(Qt::ActionsContextMenu);
  return table;
}

void ResultsPage::setResult(std::shared_ptr<const RunResult> result) {
  showBanner(banner_of(*result));
  if (!result->plan) {
    // Nothing there yet to be stale.
    until_shade_->stop();
    if (shown_ == nullptr) return;
    shade(tr("stale: of the last settings that could be used"), false);
    shade_->raise();
    shade_->show();
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
    shapes_ = {.title = shown_ == nullptr ? tr("no curve: nothing has been computed yet")
                                          : tr("no curve: this could not be simulated")};
    chart_->setDescription({});
  }
  // No empty table, no axes of nothing.
  for (QWidget* part : std::initializer_list<QWidget*>{arena_, table_}) {
    part->setVisible(shown_ != nullptr);
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

// Most runs end before the shade would be seen as more than a flicker.
void ResultsPage::setPending() {
  if (shown_ == nullptr) return showBanner({.headline = tr("Computing...")});
  const bool is_waiting = until_shade_->isActive();
  shade(tr("stale: computing"), true);
  if (!is_waiting && !shade_->isVisibleTo(this)) until_shade_->start();
}

void ResultsPage::shade(const QString& words, bool with_banner) {
  stale_ = true;
  shades_banner_ = with_banner;
  static_cast<Shade*>(shade_)->setWords(words);
  fitShade();
}

void ResultsPage::unshade() {
  stale_ = false;
  until_shade_->stop();
  shade_->hide();
}

void ResultsPage::copyRows() {
  QList<int> rows;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows()) rows << index.row();
  std::sort(rows.begin(), rows.end());
  if (!rows.isEmpty()) QApplication::clipboard()->setText(table_text(breakdown_, rows));
}

// The shade begins below the banner.
bool ResultsPage::eventFilter(QObject* watched, QEvent* event) {
  const QEvent::Type type = event->type();
  if (type == QEvent::Resize || type == QEvent::Move) fitShade();
  return QWidget::eventFilter(watched, event);
}

void ResultsPage::fitShade() {
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
