// SPDX-License-Identifier: Apache-2.0
#include "journal/metrics.h"

#include <set>

#include "scratch.h"

using namespace topoguard::journal;

TEST_CASE("samples stand under their family's help and type, with the constant labels first") {
  Metrics metrics({{"host", "node-a"}, {"pid", "7"}});
  metrics.set(Metric::communicators_open, {}, 2);
  metrics.add(Metric::connections_total, {{"side", "send"}, {"device", "eth0"}});
  metrics.add(Metric::connections_total, {{"side", "send"}, {"device", "eth0"}});
  CHECK(metrics.value(Metric::connections_total, {{"side", "send"}, {"device", "eth0"}}) == 2);
  const std::string text = metrics.text();
  CHECK_THAT(text, Catch::Contains("# TYPE topoguard_communicators_open gauge\n"
                                   "topoguard_communicators_open{host=\"node-a\",pid=\"7\"} 2\n"));
  CHECK_THAT(text, Catch::Contains(
                       "topoguard_connections_total{host=\"node-a\",pid=\"7\",side=\"send\",device=\"eth0\"} 2\n"));
  CHECK(text.find("topoguard_connect_seconds") == std::string::npos);
  CHECK(text.back() == '\n');
}

TEST_CASE("a histogram's buckets are cumulative and end with the count") {
  Metrics metrics;
  for (const double seconds : {0.0005, 0.003, 0.003, 100.0}) metrics.observe(Metric::connect_seconds, {}, seconds);
  const std::string text = metrics.text();
  CHECK_THAT(text, Catch::Contains("topoguard_connect_seconds_bucket{le=\"0.001\"} 1\n"
                                   "topoguard_connect_seconds_bucket{le=\"0.005\"} 3\n"));
  CHECK_THAT(text, Catch::Contains("topoguard_connect_seconds_bucket{le=\"60\"} 3\n"
                                   "topoguard_connect_seconds_bucket{le=\"+Inf\"} 4\n"
                                   "topoguard_connect_seconds_sum 100.0065\n"
                                   "topoguard_connect_seconds_count 4\n"));
}

TEST_CASE("label values are escaped, and large counts stay exact") {
  Metrics metrics;
  metrics.add(Metric::bytes_total, {{"device", "a\"b\\c\nd"}}, 9007199254740991.0);
  CHECK_THAT(metrics.text(), Catch::Contains("{device=\"a\\\"b\\\\c\\\\x0ad\"} 9007199254740991\n"));
  metrics.forget(Metric::bytes_total);
  CHECK(metrics.text().empty());
}

TEST_CASE("the table's names are in Prometheus' style, each once") {
  std::set<std::string_view> names;
  std::set<Metric> metrics;
  for (const auto& row : metric_rows()) {
    CHECK(names.insert(row.name).second);
    CHECK(metrics.insert(row.metric).second);
    CHECK(row.name.rfind("topoguard_", 0) == 0);
    const bool total = row.name.size() > 6 && row.name.substr(row.name.size() - 6) == "_total";
    CHECK(total == (row.type == "counter"));
    CHECK(row.help.find_first_of("\\\n") == std::string_view::npos);
    CHECK_FALSE(row.help.empty());
  }
}
