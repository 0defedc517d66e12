// SPDX-License-Identifier: Apache-2.0
// What this machine takes for a request at a fixed rate, whoever sends it: waits for a timer, sends, waits for the
// answer, receives, and nothing else. injector_cost.py compiles and runs it.
//
//     injector_floor PORT RATE SECONDS PATH      prints requests and CPU seconds (user and system)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const char REQUEST[] =
    "GET %s HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\nuser-agent: steelyard\r\n\r\n";

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "give PORT, RATE, SECONDS and PATH\n");
    return 2;
  }
  long rate = atol(arguments[2]), wanted = rate * atol(arguments[3]), answered = 0, due = 0;
  char request[512];
  int length = snprintf(request, sizeof request, REQUEST, arguments[4]);
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  int peer = socket(AF_INET, SOCK_STREAM, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0), poll = epoll_create1(0);
  struct itimerspec period = {{0, 1000000000L / rate}, {0, 1000000000L / rate}};
  if (connect(peer, (struct sockaddr *)&server, sizeof server) || timerfd_settime(timer, 0, &period, NULL)) {
    perror("injector_floor");
    return 1;
  }
  for (int i = 0; i < 2; i++) {
    int file = i ? timer : peer;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = file};
    epoll_ctl(poll, EPOLL_CTL_ADD, file, &event);
  }
  for (int waits = 0; answered < wanted;) {
    struct epoll_event events[2];
    int ready = epoll_wait(poll, events, 2, -1);
    for (int i = 0; i < ready; i++) {
      char answer[65536];
      uint64_t passed;
      if (events[i].data.fd == peer) {
        if (recv(peer, answer, sizeof answer, 0) <= 0) return 1;
        waits = 0, answered++;
      } else if (read(timer, &passed, sizeof passed) == sizeof passed) {
        due += passed;
      }
    }
    if (!waits && due > 0) {
      if (send(peer, request, length, 0) < 0) return 1;
      waits = 1, due--;
    }
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%ld %.3f\n", answered, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  return 0;
}
