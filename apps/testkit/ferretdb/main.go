// SPDX-License-Identifier: Apache-2.0

// Serves MongoDB's wire protocol from a PostgreSQL database, in the foreground: `ferretdb HOST:PORT POSTGRESQL_URL`.
// FerretDB's own command cannot be built of its module, so this one uses its public package.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ferretdb HOST:PORT POSTGRESQL_URL")
		os.Exit(2)
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	server, err := start(os.Args[1], os.Args[2])
	for err != nil && !strings.Contains(err.Error(), "address already in use") {
		select {
		case <-stopped.Done():
			return
		case <-time.After(100 * time.Millisecond): // PostgreSQL is still starting; whoever starts both ends this one with it
		}
		server, err = start(os.Args[1], os.Args[2])
	}
	if err == nil {
		err = server.Run(stopped)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(address, postgresql string) (*ferretdb.FerretDB, error) {
	return ferretdb.New(&ferretdb.Config{
		Listener:      ferretdb.ListenerConfig{TCP: address},
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:       "postgresql",
		PostgreSQLURL: postgresql,
	})
}
