// The floor of the mail proxy: a bare pipe between the client and the mail service, without authentication and checks.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true });
const { UPSTREAM_PORT, PORT } = process.env;

http
  .createServer((request, response) => {
    const { method, url } = request;
    const outgoing = http.request(
      { host: '127.0.0.1', port: UPSTREAM_PORT, method, path: url, agent },
      (answer) => {
        response.writeHead(answer.statusCode, {
          'Content-Type': answer.headers['content-type'],
          'Content-Length': answer.headers['content-length'],
        });
        answer.pipe(response);
      },
    );
    request.pipe(outgoing);
  })
  .listen(Number(PORT), '127.0.0.1');
