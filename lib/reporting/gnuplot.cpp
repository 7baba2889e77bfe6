#include "reporting/gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "reporting/trails.hpp"

namespace opshap::reporting {

namespace {

/// The shapes of gnuplot's pointtypes that styles use, around the origin. A filled one has the number after that of its
/// outline.
std::string marker_svg(int marker, const std::string& color) {
  static const std::map<int, std::string_view> shapes = {
      {2, "path d=\"M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5\""},
      {3, "path d=\"M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5M0-4.4V4.4M-4.4 0H4.4\""},
      {4, "rect x=\"-3.5\" y=\"-3.5\" width=\"7\" height=\"7\""},
      {6, "circle r=\"3.6\""},
      {8, "path d=\"M0-4.4 4.4 2.6-4.4 2.6z\""},
      {10, "path d=\"M0 4.4 4.4-2.6-4.4-2.6z\""},
      {12, "path d=\"M0-4.8 4.8 0 0 4.8-4.8 0z\""}};
  const bool filled = marker > 3 && marker % 2 == 1;
  const auto shape = shapes.find(filled ? marker - 1 : marker);
  if (shape == shapes.end()) return "";
  return fmt::format("<{} fill=\"{}\" stroke=\"{}\" stroke-width=\"1.2\"/>", shape->second, filled ? color : "none",
                     color);
}

/// 36 wide, around y = 0.
std::string sample_svg(const LegendEntry& entry) {
  const std::string color = entry.color == "#000000" ? "currentColor" : entry.color;
  if (entry.bar)
    return fmt::format("<rect x=\"6\" y=\"-6\" width=\"24\" height=\"12\" fill=\"{}\" fill-opacity=\"0.45\"/>", color);
  const std::string dash = entry.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", entry.dash);
  const std::string line =
      entry.line ? fmt::format("<path d=\"M1 0H35\" stroke=\"{}\" stroke-width=\"2\"{}/>", color, dash) : "";
  return fmt::format("{}<g transform=\"translate(18,0)\">{}</g>", line, marker_svg(entry.marker, color));
}

/// The legend as SVG rows in a box of this width; `height` gets the rows' height.
std::string legend_svg(const std::vector<LegendEntry>& entries, int width, int& height) {
  constexpr int row = 22;
  constexpr double letter = 7.2;  // in width, of font size 13
  std::size_t longest = 0;
  for (const LegendEntry& entry : entries) longest = std::max(longest, entry.label.size());
  const int column = std::max(220, 60 + static_cast<int>(letter * static_cast<double>(longest)));
  const std::size_t columns = static_cast<std::size_t>(std::max(1, width / column));
  height = row * static_cast<int>((entries.size() + columns - 1) / columns) + 10;
  std::string text = "<g font-family=\"sans-serif\" font-size=\"13\" fill=\"none\">\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += fmt::format(
        "<g transform=\"translate({},{})\">{}<text x=\"44\" y=\"4.5\" fill=\"currentColor\">{}</text></g>\n",
        20 + column * static_cast<int>(i % columns), 14 + row * static_cast<int>(i / columns), sample_svg(entries[i]),
        escape_markup(entries[i].label));
  }
  return text + "</g>\n";
}

/// A nameless file that is gone when it is closed: a pipe could block gnuplot and us on each other.
class ScratchFile {
 public:
  ScratchFile() : file_(std::tmpfile(), &std::fclose) {
    if (file_ == nullptr) throw_if_shortage("gnuplot: temporary file", errno);
    require<EnvironmentError>(
        file_ != nullptr,
        "gnuplot: temporary file (cannot be made). Free some space in the system's temporary folder.");
  }
  int descriptor() const { return fileno(file_.get()); }
  void write(const std::string& text) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() && std::fflush(file_.get()) == 0;
    require<EnvironmentError>(written && lseek(descriptor(), 0, SEEK_SET) == 0,
                              "gnuplot: temporary file (cannot be written). Free some space.");
  }
  std::string read() const {
    std::string text;
    std::array<char, 1 << 16> block;
    off_t position = 0;
    for (ssize_t count; (count = pread(descriptor(), block.data(), block.size(), position)) > 0; position += count) {
      text.append(block.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// What stands behind each drawing of a process.
constexpr std::string_view end_of_drawing = "opshap: end of a drawing";

/// What gnuplot draws for each script. All of them are drawn by one process, without the user's settings and in the C
/// locale.
std::vector<std::string> run_gnuplot(const std::vector<std::string>& scripts) {
  if (scripts.empty()) return {};
  std::string session = "set print '-'\n";
  for (const std::string& script : scripts)
    session += message("reset\nset encoding utf8\n", script, "set output\nprint '", end_of_drawing, "'\n");
  ScratchFile in, out, error;
  in.write(session);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, error.descriptor(), STDERR_FILENO);
  std::string program = "gnuplot", option = "-d";
  std::array<char*, 3> arguments = {program.data(), option.data(), nullptr};
  const char* path = std::getenv("PATH");
  std::string path_setting = std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin"),
              locale = "LC_ALL=C.UTF-8";
  std::array<char*, 3> environment = {path_setting.data(), locale.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, program.c_str(), &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  require<EnvironmentError>(failure != ENOENT, "figures: gnuplot (is not installed). Run: apt-get install gnuplot-nox");
  require<EnvironmentError>(failure == 0, "figures: gnuplot (cannot be started). Run: apt-get install gnuplot-nox");
  const ForcedEnd forced([child] { ::kill(child, SIGKILL); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  require<EnvironmentError>(!WIFSIGNALED(status), "figures: gnuplot (was ended by signal ", WTERMSIG(status), ", ",
                            ::strsignal(WTERMSIG(status)),
                            "). Run the command again, with more memory if it has little.");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::logic_error(message("gnuplot: status=", status, ": ", error.read()));
  const std::string all = out.read();
  std::vector<std::string> drawings;
  std::size_t begin = 0;
  for (std::size_t end; (end = all.find(end_of_drawing, begin)) != std::string::npos;
       begin = end + end_of_drawing.size() + 1)  // print ends its line
    drawings.push_back(all.substr(begin, end - begin));
  if (drawings.size() != scripts.size())
    throw std::logic_error(message("gnuplot: drawings=", drawings.size(), " (of ", scripts.size(), " scripts)"));
  return drawings;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

constexpr const char* const blanks = " \n\t";

/// Takes away each piece from `begin` to the next `end`, both of them included, if `taken` says so of what is between;
/// with `and_blanks` those behind it as well.
template <typename Taken>
void erase_pieces(std::string& text, std::string_view begin, std::string_view end, const Taken& taken,
                  bool and_blanks = false) {
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    const std::size_t inner = at + begin.size(), stop = text.find(end, inner);
    if (at < from || stop == std::string::npos || !taken(std::string_view(text).substr(inner, stop - inner))) continue;
    kept.append(text, from, at - from);
    from = stop + end.size();
    if (and_blanks) from = std::min(text.find_first_not_of(blanks, from), text.size());
  }
  text = std::move(kept.append(text, from));
}

/// Takes away blanks at the ends of lines.
void strip_lines(std::string& text) {
  std::size_t length = 0;
  for (const char letter : text) {
    if (letter == '\n')
      while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) --length;
    text[length++] = letter;
  }
  text.resize(length);
}

/// A place in tenths of a pixel.
using Tenths = std::array<long, 2>;

/// The union of triangles as the "d" of a path.
class Union {
 public:
  /// Adds a triangle, whichever way its corners go round.
  void add(std::array<Tenths, 3> corners) {
    const auto [a, b, c] = corners;
    if ((b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0])) std::swap(corners[1], corners[2]);
    for (std::size_t k = 0; k < 3; ++k) add_edge(corners[k], corners[(k + 1) % 3]);
  }

  /// Closed lines round what was added, with the ways between their corners.
  std::string path() const {
    std::vector<std::pair<Tenths, Tenths>> edges;
    for (const auto& [edge, count] : edges_) edges.insert(edges.end(), count, edge);
    std::string text;
    for (const std::vector<Tenths>& line : trails(edges)) {
      text += "M";
      append(text, line[0]);
      text += "l";
      for (std::size_t k = 1; k + 1 < line.size(); ++k)
        append(text, {line[k][0] - line[k - 1][0], line[k][1] - line[k - 1][1]});
      text += "z";
    }
    return text;
  }

 private:
  /// An edge cancels one that goes the other way: both triangles are on a side of it.
  void add_edge(const Tenths& from, const Tenths& to) {
    if (from == to) return;
    if (const auto back = edges_.find({to, from}); back != edges_.end()) {
      if (--back->second == 0) edges_.erase(back);
    } else {
      ++edges_[{from, to}];
    }
  }

  /// Two numbers in pixels, with as few letters as a path may have.
  static void append(std::string& text, const Tenths& numbers) {
    for (const long number : numbers) {
      if (text.back() >= '0' && text.back() <= '9' && number >= 0) text += ' ';
      if (number < 0) text += '-';
      const long size = std::abs(number), whole = size / 10, tenth = size % 10;
      if (whole > 0 || tenth == 0) text += std::to_string(whole);
      if (tenth > 0) text += "." + std::to_string(tenth);
    }
  }

  std::map<std::pair<Tenths, Tenths>, std::size_t> edges_;
};

/// Triangles that gnuplot wrote one after the other, each a line, as one path round those of each colour with corners
/// to a tenth of a pixel: a mesh takes a sixth of the letters.
void join_triangles(std::string& svg) {
  constexpr std::string_view beginning = "<polygon fill = 'rgb(";
  std::string joined;
  std::map<std::array<int, 3>, Union> paths;
  const auto end_run = [&] {
    for (const auto& [color, triangles] : paths)
      joined +=
          fmt::format("<path fill='#{:02x}{:02x}{:02x}' d='{}'/>\n", color[0], color[1], color[2], triangles.path());
    paths.clear();
  };
  for (std::size_t at = 0, next = 0; at < svg.size(); at = next) {
    next = std::min(svg.find('\n', at), svg.size() - 1) + 1;
    const std::string line = svg.substr(at, next - at);
    std::array<int, 3> color;
    std::array<double, 6> pixels;
    int read = 0;
    if (line.find(beginning) != std::string::npos)
      std::sscanf(line.c_str(), " <polygon fill = 'rgb(%d, %d, %d)' points = '%lf,%lf %lf,%lf %lf,%lf '/> %n",
                  &color[0], &color[1], &color[2], &pixels[0], &pixels[1], &pixels[2], &pixels[3], &pixels[4],
                  &pixels[5], &read);
    if (read == 0 || static_cast<std::size_t>(read) != line.size()) {
      end_run();
      joined += line;
      continue;
    }
    std::array<Tenths, 3> corners;
    for (std::size_t k = 0; k < 6; ++k) corners[k / 2][k % 2] = std::lround(10 * pixels[k]);
    paths[color].add(corners);
  }
  end_run();
  svg = std::move(joined);
}

/// What is inside gnuplot's <svg>, without its own titles and with the reader's colour for black and unique ids.
std::string body_of(std::string svg, const std::string& id) {
  const std::size_t begin = svg.find("<g id=\"gnuplot_canvas\">"), end = svg.rfind("</svg>");
  if (begin == std::string::npos || end == std::string::npos)
    throw std::logic_error("gnuplot: no SVG came back for " + id);
  svg = svg.substr(begin, end - begin);
  const auto no_mark = [](std::string_view inner) { return inner.find_first_of("<>") == std::string_view::npos; };
  erase_pieces(svg, "<title>", "</title>", no_mark);
  erase_pieces(svg, "<filter", "</filter>", [](std::string_view) { return true; });
  erase_pieces(svg, "<rect x=\"0\" y=\"0\" ", "/>", no_mark);
  join_triangles(svg);
  replace_all(svg, "color=\"black\"", "");
  replace_all(svg, "'black'", "'currentColor'");
  replace_all(svg, "\"black\"", "\"currentColor\"");
  replace_all(svg, "rgb(  0,   0,   0)", "currentColor");
  replace_all(svg, " color='currentColor'", "");
  replace_all(svg, "<image ", "<image style='image-rendering:pixelated' ");  // a cell is one colour, not a slope
  replace_all(svg, "xlink:href", "href");
  replace_all(svg, "href='#", "href='#" + id + "-");
  replace_all(svg, "url(#", "url(#" + id + "-");
  replace_all(svg, "id='", "id='" + id + "-");
  replace_all(svg, "id=\"", "id=\"" + id + "-");
  // Groups that gnuplot opens to set a pen it then does not use.
  const auto nothing = [](std::string_view inner) {
    const std::size_t opened = inner.find('>');
    return opened != std::string_view::npos && inner.find_first_not_of(blanks, opened + 1) == std::string_view::npos;
  };
  erase_pieces(svg, "<g fill=\"none\"", "</g>", nothing, true);
  strip_lines(svg);
  return svg;
}

/// Border, ticks, grid and title of a panel.
std::string style_of_panel(const Panel& panel) {
  return message(
      "set border 3 lw 0.8\nset tics nomirror out scale 0.6,0.3\nset grid ytics back lc rgb '#808080' dt 3 lw "
      "0.4\nunset key\n",
      "set style fill transparent solid 0.18 noborder\nset title ", quote_for_gnuplot(panel.title), "\n");
}

/// Labels nearer to their axes than gnuplot's terminal for SVG has them, which leaves more of a small panel to the
/// drawing.
constexpr const char* const near_labels =
    "set tmargin 1.6\nset bmargin 2.3\nset title offset 0,-0.5\nset xtics offset 0,0.4\nset xlabel offset 0,0.9\n"
    "set ylabel offset 0.8,0\n";

/// A line of gnuplot's key: the sample that the legend of a page has.
std::string key_entry(const LegendEntry& entry) {
  const std::string title = " title " + quote_for_gnuplot(entry.label);
  if (entry.bar) return message("keyentry with boxes fs solid 0.45 noborder lc rgb '", entry.color, "'", title);
  const std::string marker = message(" pt ", entry.marker, " ps 0.75");
  if (!entry.line) return message("keyentry with points lc rgb '", entry.color, "'", marker, title);
  return message("keyentry with ", entry.marker > 0 ? "linespoints" : "lines", " lw 1.8 lc rgb '", entry.color, "' ",
                 entry.dash.empty() ? "dt solid" : "dt (" + entry.dash + ")", entry.marker > 0 ? marker : "", title);
}

/// The time of day at which Cairo wrote a PDF becomes blanks, so that places in the file stay what its index says.
std::string without_date(std::string pdf) {
  const std::string key = "/CreationDate (";
  const std::size_t begin = pdf.rfind(key), end = begin == std::string::npos ? begin : pdf.find(')', begin);
  if (end != std::string::npos) pdf.replace(begin, end + 1 - begin, end + 1 - begin, ' ');
  return pdf;
}

/// gnuplot commands for a plate.
std::string script_of_plate(const Plate& plate, Picture format) {
  constexpr std::size_t title_height = 30, key_row = 20;
  const auto& [title, panels, legend] = plate;
  const std::size_t columns = columns_of(panels.size()), lines = (panels.size() + columns - 1) / columns,
                    key_lines = (legend.size() + columns - 1) / columns;
  const std::size_t key_height = legend.empty() ? 0 : key_row * key_lines + key_row / 2, width = columns * panel_width,
                    height = title_height + lines * panel_height + key_height;
  // A PDF is measured in inches at 96 pixels each. A PNG has twice the pixels, for print.
  std::string script = format == Picture::pdf ? message("set terminal pdfcairo size ", static_cast<double>(width) / 96,
                                                        "in,", static_cast<double>(height) / 96,
                                                        "in noenhanced dashlength 2 font 'sans-serif,9'\n")
                                              : message("set terminal pngcairo size ", 2 * width, ",", 2 * height,
                                                        " noenhanced dashlength 2 font 'sans-serif,18' linewidth 2\n");
  script += message("set multiplot title ", quote_for_gnuplot(title), "\n");
  const auto share = [](std::size_t pixels, std::size_t of) {
    return static_cast<double>(pixels) / static_cast<double>(of);
  };
  for (std::size_t i = 0; i < panels.size(); ++i) {
    script +=
        message("reset\nset encoding utf8\nset origin ", share(i % columns, columns), ",",
                share(key_height + (lines - 1 - i / columns) * panel_height, height), "\nset size ", share(1, columns),
                ",", share(panel_height, height), "\n", style_of_panel(panels[i]), panels[i].script);
  }
  if (!legend.empty()) {
    script += message("reset\nset encoding utf8\nset origin 0,0\nset size 1,", share(key_height, height),
                      "\nunset border\nunset tics\n"
                      "set margins 0,0,0,0\nset key inside center center horizontal Left reverse maxcols ",
                      columns, " samplen 4 spacing 1.3\nplot [0:1] [0:1] NaN notitle");
    for (const LegendEntry& entry : legend) script += ", " + key_entry(entry);
    script += "\n";
  }
  return script + "unset multiplot\n";
}

}  // namespace

LegendEntry line_legend_of(const MethodStyle& style) {
  return {.label = style.label, .color = style.color, .dash = style.dash};
}

Html legend_html(const std::vector<LegendEntry>& entries) {
  return element("ul.legend", each(entries, [](const LegendEntry& entry) {
                   return element("li",
                                  element("svg", Attribute{"viewBox", "0 -8 36 16"}, Attribute{"width", "36"},
                                          Attribute{"height", "16"}, Attribute{"aria-hidden", "true"},
                                          Html::raw(sample_svg(entry))),
                                  entry.label);
                 }));
}

std::size_t columns_of(std::size_t panels) { return panels == 4 ? 2 : std::min<std::size_t>(panels, 3); }

std::string quote_for_gnuplot(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? "''" : std::string(1, letter == '\n' ? ' ' : letter);
  return quoted + "'";
}

std::optional<Picture> picture_format(std::string_view ending) {
  if (ending == ".svg") return Picture::svg;
  if (ending == ".pdf") return Picture::pdf;
  if (ending == ".png") return Picture::png;
  return std::nullopt;
}

std::vector<std::string> print(const std::vector<Plate>& plates, Picture format) {
  if (format == Picture::svg) throw std::logic_error("gnuplot: an SVG is composed, not printed");
  std::vector<std::string> scripts;
  for (const Plate& plate : plates) scripts.push_back(script_of_plate(plate, format));
  std::vector<std::string> printed = run_gnuplot(scripts);
  if (format == Picture::pdf)
    for (std::string& bytes : printed) bytes = without_date(std::move(bytes));
  return printed;
}

std::vector<std::string> draw(const std::vector<Panel>& panels) {
  std::vector<std::string> scripts;
  for (const Panel& panel : panels) {
    scripts.push_back(message("set terminal svg size ", panel_width, ",", panel_height,
                              " dynamic noenhanced font 'sans-serif,13' name 'panel'\n", near_labels,
                              style_of_panel(panel), panel.script));
  }
  std::vector<std::string> drawn = run_gnuplot(scripts);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& panel = panels[i];
    drawn[i] = message("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", panel_width, " ", panel_height,
                       "\" role=\"img\" aria-labelledby=\"", panel.id, "-title ", panel.id, "-desc\">\n<title id=\"",
                       panel.id, "-title\">", escape_markup(panel.title), "</title>\n<desc id=\"", panel.id, "-desc\">",
                       escape_markup(panel.description), "</desc>\n", body_of(drawn[i], panel.id), "</svg>\n");
  }
  return drawn;
}

std::string compose(const std::string& title, const std::string& description, const std::vector<std::string>& panels,
                    const std::vector<LegendEntry>& legend, Form form) {
  const std::size_t columns = form == Form::narrow ? 1 : columns_of(panels.size());
  const int lines = static_cast<int>((panels.size() + columns - 1) / columns),
            width = static_cast<int>(columns) * panel_width;
  int legend_height = 0;
  const std::string legend_rows = legend_svg(legend, width, legend_height);
  const int height = lines * panel_height + legend_height;
  const std::string own_size =
      form == Form::narrow ? message(" width=\"", width, "\" height=\"", height, "\"") : std::string();
  std::string text =
      message("<svg xmlns=\"http://www.w3.org/2000/svg\"", own_size, " viewBox=\"0 0 ", width, " ", height,
              "\" role=\"img\">\n<title>", escape_markup(title), "</title>\n<desc>", escape_markup(description),
              "</desc>\n<style>svg{color:#1b1f24}@media "
              "(prefers-color-scheme:dark){svg{color:#e8e6e1;background:#16191d}}</style>\n");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    text += message("<svg x=\"", i % columns * panel_width, "\" y=\"", i / columns * panel_height, "\" width=\"",
                    panel_width, "\" height=\"", panel_height, "\"", panels[i].substr(4));
  }
  return text + message("<g transform=\"translate(0,", lines * panel_height, ")\">\n", legend_rows, "</g>\n</svg>\n");
}

}  // namespace opshap::reporting
