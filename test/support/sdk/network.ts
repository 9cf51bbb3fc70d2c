/** A network between a client and the service that the test disturbs. */
export class DisturbedNetwork {
  /** The requests that have passed, as method and path, with their headers. */
  readonly requests: { name: string; headers: Headers }[] = [];
  private faults: { name: string; fault: (request: Request) => Promise<Response> }[] = [];

  readonly fetch = async (request: Request): Promise<Response> => {
    const name = `${request.method} ${new URL(request.url).pathname.replace('/apis/v1', '')}`;
    this.requests.push({ name, headers: new Headers(request.headers) });
    const n = this.faults.findIndex((fault) => name.startsWith(fault.name));
    return n === -1 ? fetch(request) : this.faults.splice(n, 1)[0]!.fault(request);
  };

  /** The service executes the next request with this name; its response is lost. */
  loseResponse(name: string): void {
    this.faults.push({
      name,
      fault: async (request) => {
        await (await fetch(request)).arrayBuffer();
        throw new TypeError('the connection is lost');
      },
    });
  }

  /** The next request with this name does not reach the service. */
  loseRequest(name: string): void {
    this.faults.push({ name, fault: () => Promise.reject(new TypeError('the connection is lost')) });
  }

  named = (name: string) => this.requests.filter((request) => request.name.startsWith(name));
}
