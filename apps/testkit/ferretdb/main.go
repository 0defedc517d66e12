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
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
	"github.com/jackc/pgx/v5"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ferretdb HOST:PORT POSTGRESQL_URL")
		os.Exit(2)
	}
	stopped, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	await(stopped, os.Args[2])
	server, err := start(os.Args[1], os.Args[2])
	if err == nil {
		err = server.Run(stopped)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// FerretDB listens, and calls itself ready, whether or not PostgreSQL answers; commands fail until it does. Whoever starts both
// ends this one with PostgreSQL.
func await(stopped context.Context, postgresql string) {
	for {
		connection, err := pgx.Connect(stopped, postgresql)
		if err == nil {
			connection.Close(stopped)
			return
		}
		select {
		case <-stopped.Done():
			os.Exit(1)
		case <-time.After(100 * time.Millisecond):
		}
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
