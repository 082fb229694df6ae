// Keeps a connection alive as eagerly as grpc-go allows, with and without calls, and tells whether the server minded:
// it ends with 0 if the connection never left READY.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
)

// The third ping too many ends a connection, and grpc-go sends one every ten seconds at most.
const idle = 35 * time.Second

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address string) error {
	connection, err := grpc.NewClient(
		address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 10 * time.Second, Timeout: 20 * time.Second, PermitWithoutStream: true,
		}),
	)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client := healthpb.NewHealthClient(connection)
	if err := check(ctx, client); err != nil {
		return err
	}
	quiet, stop := context.WithTimeout(ctx, idle)
	defer stop()
	if connection.WaitForStateChange(quiet, connectivity.Ready) {
		return fmt.Errorf("the connection became %s", connection.GetState())
	}
	return check(ctx, client)
}

func check(ctx context.Context, client healthpb.HealthClient) error {
	answer, err := client.Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if answer.Status != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("the server says %s", answer.Status)
	}
	return nil
}
