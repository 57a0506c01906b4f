// SPDX-License-Identifier: Apache-2.0
/// \file
/// This engine beside oneTBB's flow graph and Taskflow, on the same programs in the same run.
///
/// The peers are given a graph, so finding out what comes after what is part of what is measured, as it is in a push.
#include <oneapi/tbb/flow_graph.h>

#include <deque>
#if __has_include(<taskflow/taskflow.hpp>)
#include <taskflow/taskflow.hpp>
#define HAS_TASKFLOW 1
#endif

#include "engine_programs.hpp"

using namespace engine_peers;

int main() {
  heading();
  for (const Program& program : programs()) {
    const auto& operations = program.operations;
    const Time ours = measure_strop(program, 51);
    report(program, "strop", ours, ours);
    report(program, "oneTBB flow graph",
           measure(program, 51,
                   [&](Cell* at) {
                     using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
                     tbb::flow::graph graph;
                     std::deque<Node> nodes;
                     std::vector<char> waits(operations.size());
                     for (const Operation& o : operations)
                       nodes.emplace_back(graph, [&o, at](const tbb::flow::continue_msg&) { o.apply(at); });
                     edges_of(operations, [&](std::size_t from, std::size_t to) {
                       tbb::flow::make_edge(nodes[from], nodes[to]);
                       waits[to] = 1;
                     });
                     for (std::size_t i = 0; i < operations.size(); ++i)
                       if (waits[i] == 0) nodes[i].try_put(tbb::flow::continue_msg());
                     graph.wait_for_all();
                   }),
           ours);
#ifdef HAS_TASKFLOW
    static tf::Executor executor;
    report(program, "Taskflow",
           measure(program, 51,
                   [&](Cell* at) {
                     tf::Taskflow flow;
                     std::vector<tf::Task> tasks;
                     for (const Operation& o : operations) tasks.push_back(flow.emplace([&o, at] { o.apply(at); }));
                     edges_of(operations, [&](std::size_t from, std::size_t to) { tasks[from].precede(tasks[to]); });
                     executor.run(flow).wait();
                   }),
           ours);
#endif
  }
#ifndef HAS_TASKFLOW
  std::printf("SKIP Taskflow: its header is not installed\n");
#endif
}
