// The common part of the resource servers: everything except the lines that README
// shows.
import express from 'express'

const [host, port] = process.env.LISTEN.split(':')

// serve answers GET /bookings to tokens that guard passes on as req.auth and that may
// read bookings. A legacy token may read everything.
export function serve(guard) {
  const app = express()
  app.get('/bookings', guard, (req, res) => {
    const { legacy, scope } = req.auth.payload
    const allowed = legacy === true || scope.split(' ').includes('BOOKING_READ')
    res.status(allowed ? 200 : 403).end()
  })
  app.use((err, req, res, next) => res.status(err.status ?? 500).set(err.headers ?? {}).end())
  app.listen(Number(port), host)
}

// bearer returns a guard for a function that returns the payload of a token, or throws.
export const bearer = (verify) => async (req, res, next) => {
  const [, token] = /^Bearer ([\w.~+/-]+=*)$/i.exec(req.headers.authorization ?? '') ?? []
  try {
    if (token === undefined) throw new Error('no token')
    req.auth = { payload: await verify(token) }
  } catch (err) {
    if (token !== undefined) console.error(err.message)
    return res.status(401).set('WWW-Authenticate', 'Bearer').end()
  }
  next()
}
