// The floor of the mail proxy: a bare pipe between the client and the mail service, without authentication and checks.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true });
const { UPSTREAM_PORT, PORT } = process.env;

http
  .createServer((request, response) => {
    const { method, url } = request;
    const outgoing = http.request(
      { host: '127.0.0.1', port: UPSTREAM_PORT, method, path: url, agent },
      (upstream) => {
        response.writeHead(upstream.statusCode, {
          'Content-Type': upstream.headers['content-type'],
          'Content-Length': upstream.headers['content-length'],
        });
        upstream.pipe(response);
      },
    );
    request.pipe(outgoing);
  })
  .listen(Number(PORT), '127.0.0.1');
