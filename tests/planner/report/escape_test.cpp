#include "planner/report/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sample.h"

namespace tidemark {
namespace {

TEST(EscapeTest, WorkedExample) {
  const std::string name = "a\n\"b\" & <c> | d";
  EXPECT_EQ(one_line(name), "a\\n\"b\" & <c> | d");
  EXPECT_EQ(csv_field(name), "\"a\n\"\"b\"\" & <c> | d\"");
  EXPECT_EQ(xml_text(name), "a\\n&quot;b&quot; &amp; &lt;c&gt; | d");
  EXPECT_EQ(markdown_text(name), "a\\\\n\"b\" &amp; &lt;c&gt; \\| d");
}

TEST(EscapeTest, PlainNamesStayAsTheyAre) {
  for (const std::string name : {"minicpm-2b", "blk.0.attn_q.weight", "模型", "Straße"}) {
    EXPECT_EQ(one_line(name), name);
    EXPECT_EQ(csv_field(name), name);
    EXPECT_EQ(xml_text(name), name);
    EXPECT_EQ(markdown_text(name), name);
  }
}

TEST(EscapeTest, ControlCharactersBecomeVisible) {
  EXPECT_EQ(one_line("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(one_line("\t\r\x7f"), "\\t\\r\\x7f");
  EXPECT_EQ(one_line("\xC2\x9B"), "\\x9b");          // the eight-bit escape code
  EXPECT_EQ(one_line("\xE2\x80\xAE"), "\\u{202e}");  // right-to-left override
}

TEST(EscapeTest, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(one_line("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(one_line("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong zero
  EXPECT_EQ(one_line("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
  EXPECT_EQ(one_line("\xF4\x90\x80\x80"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // past U+10FFFF
  EXPECT_EQ(one_line("\xE6\xA8"), "\xEF\xBF\xBD\xEF\xBF\xBD");    // cut off
  EXPECT_EQ(one_line("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");    // four bytes, valid
}

TEST(EscapeTest, AnyBytesBecomeValidTextOnOneLine) {
  EXPECT_TRUE(rc::check([](const std::string& name) {
    const std::string line = one_line(name);
    RC_ASSERT(one_line(line) == line);
    for (const char c : line) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
  }));
}

TEST(EscapeTest, AnUnquotedFieldHoldsNothingThatNeedsQuotes) {
  EXPECT_TRUE(rc::check([](const std::string& name) {
    const std::string field = csv_field(name);
    if (!field.starts_with('"')) RC_ASSERT(field.find_first_of("\",\r\n") == std::string::npos);
  }));
}

}  // namespace
}  // namespace tidemark
