--- Azimuth for Neovim. `require("azimuth").setup{}` is optional; see |azimuth-setup|.

local M = {}

---@param options? table See |azimuth-setup|.
function M.setup(options)
  require("azimuth.config").set(options)
  require("azimuth.mappings").set()
  if require("azimuth.config").values.autostart then
    require("azimuth.mappings").autostart()
  end
end

return M
