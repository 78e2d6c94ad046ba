-- What stands between a script and the machine: read-only tables, globals that must exist, errors
-- as tables, and the calls that catch errors. Runs once a machine, before any script.
--
-- A read-only table is an empty one in front of the real one: reading goes through, writing is
-- refused. The functions that look behind metatables know of them.

local host = ...

local error, type, tostring, tonumber = error, type, tostring, tonumber
local unpack, select = unpack, select
local rawget, rawset, rawequal, next, pairs = rawget, rawset, rawequal, next, pairs
local getmetatable, setmetatable = getmetatable, setmetatable
local pcall, xpcall, loadstring = pcall, xpcall, loadstring
local collectgarbage, resume = collectgarbage, coroutine.resume
local foreach, insert, remove, sort = table.foreach, table.insert, table.remove, table.sort
local concat, gsub, find, setfenv = table.concat, string.gsub, string.find, setfenv
local stopped, where, unwrap = host.stopped, host.where, host.unwrap

local READONLY = 'Attempt to modify a readonly table'
-- What a script that must end is ended with. Nothing that catches errors keeps it.
local STOP = 'script stopped'
-- More values than this Lua's stack does not hold.
local UNPACKED_MAX = 8000

-- The real table behind each read-only one.
local behind = setmetatable({}, { __mode = 'k' })

local function refuse()
  error(READONLY, 2)
end

local function readonly(real)
  local face = setmetatable({}, { __index = real, __newindex = refuse, __metatable = false })
  behind[face] = real
  return face
end

local function unknown(_, name)
  error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end

-- A script's globals: what is in `real`, and an error for anything else.
local function globals(real)
  local shown = readonly({ __index = unknown })
  local rules = { __index = real, __newindex = refuse, __metatable = shown }
  local face = setmetatable({}, rules)
  setmetatable(real, { __index = unknown })
  behind[face] = real
  real._G = face
  return face, rules
end

-- An error as a script may see it: one of ours is unwrapped, and one that a wrapper of this file let
-- through does not name this file.
local function seen(raised)
  if type(raised) == 'userdata' then
    -- More arguments than the machine hands over at once: it says so by panicking.
    if find(tostring(raised), 'out of auxiliary stack space', 1, true) then
      return 'too many arguments'
    end
    return unwrap(raised)
  end
  if type(raised) == 'string' then return (gsub(raised, '^%([mt]a%a+ ?%a*%):%d+: ', '')) end
  return raised
end

local function finish(ok, ...)
  if ok then return true, ... end
  if stopped() then error(STOP, 0) end
  return false, seen((...)), select(2, ...)
end

local function finish_call(ok, ...)
  if ok then return true, ... end
  if stopped() then error(STOP, 0) end
  local raised = seen((...))
  if type(raised) == 'table' then
    local text = raised.err
    if type(text) == 'string' or type(text) == 'number' then return false, text end
  end
  return false, raised
end

local base = {}
for _, name in pairs({
  '_VERSION', 'assert', 'error', 'gcinfo', 'ipairs', 'rawequal', 'select', 'tonumber',
  'tostring', 'type',
}) do
  base[name] = _G[name]
end

function base.pcall(...)
  return finish_call(pcall(...))
end

function base.xpcall(f, handler)
  return finish(xpcall(f, function(raised)
    if stopped() then return STOP end
    return handler(seen(raised))
  end))
end

function base.rawset(t, k, v)
  if behind[t] then error(READONLY, 0) end
  return rawset(t, k, v)
end

function base.rawget(t, k)
  return rawget(behind[t] or t, k)
end

function base.next(t, k)
  return next(behind[t] or t, k)
end

function base.pairs(t)
  local real = behind[t]
  if not real then return pairs(t) end
  return function(_, k) return next(real, k) end, t, nil
end

function base.setmetatable(t, m)
  if behind[t] then error(READONLY, 0) end
  return setmetatable(t, m)
end

function base.getmetatable(x)
  return getmetatable(x) or nil
end

-- The collector belongs to the machine: a script may look and step, not stop it.
function base.collectgarbage(what, ...)
  if what == nil or what == 'collect' or what == 'count' or what == 'step' then
    return collectgarbage(what, ...)
  end
  return 0
end

-- A range that overflows must not reach the machine's own arithmetic.
function base.unpack(t, first, last)
  if last == nil then
    if first == nil then return unpack(t) end
  else
    local from, to = tonumber(first or 1), tonumber(last)
    if from and to and to - from >= UNPACKED_MAX then
      error('too many results to unpack', 2)
    end
  end
  return unpack(t, first, last)
end

-- Compiled code is refused: the machine trusts it.
local function load_text(text, name, env)
  if type(text) == 'string' and text:byte(1) == 27 then
    return nil, 'attempt to load chunk with wrong mode'
  end
  local chunk, failure = loadstring(text, name)
  if chunk then setfenv(chunk, env) end
  return chunk, failure
end

local function loaders(real, env)
  function real.loadstring(text, name)
    return load_text(text, name or text, env)
  end
  function real.load(reader, name)
    local parts = {}
    repeat
      local part = reader()
      parts[#parts + 1] = part
    until part == nil or part == ''
    return load_text(concat(parts), name or '=(load)', env)
  end
end

-- Libraries of the machine, with what may be used of them.
local libraries = {
  math = math, string = string, table = table, coroutine = coroutine, os = { clock = os.clock },
}
libraries.math.random, libraries.math.randomseed = host.random, host.randomseed

function libraries.coroutine.resume(...)
  return finish(resume(...))
end

function libraries.table.insert(...)
  if behind[(...)] then error(READONLY, 0) end
  return insert(...)
end

function libraries.table.remove(...)
  if behind[(...)] then error(READONLY, 0) end
  return remove(...)
end

function libraries.table.sort(...)
  if behind[(...)] then error(READONLY, 0) end
  return sort(...)
end

function libraries.table.foreach(t, f)
  return foreach(behind[t] or t, f)
end

-- Matching goes as deep as its pattern is long, on the thread's own stack.
local PATTERN_BYTES_MAX = 4096

local function bounded(match)
  return function(text, pattern, a, b)
    if type(pattern) == 'string' and #pattern > PATTERN_BYTES_MAX
      and find(pattern, '[*+?-]') and not (match == find and b) then
      error('pattern too long', 2)
    end
    return match(text, pattern, a, b)
  end
end

for _, name in pairs({ 'find', 'match', 'gmatch', 'gfind', 'gsub' }) do
  libraries.string[name] = bounded(string[name])
end

for name, library in pairs(host.libraries) do libraries[name] = library end

-- Makes an error ready to be replied, with the line that raised it.
local function handler(raised)
  if stopped() then return STOP end
  local source, line, position = where()
  if type(raised) == 'userdata' then raised = seen(raised) end
  if type(raised) ~= 'table' then
    raised = tostring(raised)
    raised = gsub(raised, '^%(machine%):%d+: ', position or '')
    raised = gsub(raised, '^%(tail call%):%d+: ', position or '')
    raised = { err = 'ERR ' .. raised }
  end
  if source then
    raised.source, raised.line = source, line
  end
  return raised
end

local faces = {}
for name, library in pairs(libraries) do faces[name] = readonly(library) end
local string_rules = getmetatable('')
string_rules.__index = faces.string
string_rules.__metatable = readonly(string_rules)

-- Scripts' globals and functions' globals: the latter have no KEYS and ARGV.
local eval, inside = {}, {}
for key, value in pairs(base) do eval[key], inside[key] = value, value end
for name, face in pairs(faces) do eval[name], inside[name] = face, face end

-- What a library sees while it is loaded: no more than it needs to register its functions.
local loading_api = {}
for _, name in pairs({
  'register_function', 'log', 'LOG_DEBUG', 'LOG_VERBOSE', 'LOG_NOTICE', 'LOG_WARNING',
  'REDIS_VERSION', 'REDIS_VERSION_NUM', 'VALKEY_VERSION', 'VALKEY_VERSION_NUM', 'SERVER_NAME',
}) do
  loading_api[name] = host.api[name]
end
host.api.register_function = nil
setmetatable(loading_api, { __index = unknown })
local loading = {}
loading.redis = readonly(loading_api)
loading.server = loading.redis
setmetatable(loading, { __index = unknown })

eval.redis = readonly(host.api)
eval.server = eval.redis
inside.redis, inside.server = eval.redis, eval.redis

local eval_globals = globals(eval)
local inside_globals, inside_rules = globals(inside)
loaders(eval, eval_globals)
loaders(inside, inside_globals)

local function run_script(chunk)
  return xpcall(chunk, handler)
end

-- xpcall of this Lua passes no arguments.
local pending, pending_keys, pending_args
local function run_pending()
  return pending(pending_keys, pending_args)
end

local function run_function(f, keys, args)
  pending, pending_keys, pending_args = f, keys, args
  return xpcall(run_pending, handler)
end

local function load_library(chunk)
  inside_rules.__index, behind[inside_globals] = loading, loading
  local ok, value = xpcall(chunk, handler)
  inside_rules.__index, behind[inside_globals] = inside, inside
  return ok, value
end

return eval, eval_globals, inside_globals, run_script, run_function, load_library
